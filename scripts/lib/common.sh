# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Sourced by every script in scripts/: where the workspace is, how to speak to the user, and how to enter the environment.
# After it: $SHELLBOT_WS (workspace root), say/warn/die, ready_workspace, enter_workspace, $SHELLBOT_PYTHON once entered.

set -euo pipefail

SHELLBOT_WS="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)"
export SHELLBOT_WS
SHELLBOT_VENV="$SHELLBOT_WS/.venv"
SHELLBOT_PYTHON="$SHELLBOT_VENV/bin/python"

if [ -t 2 ]; then bold=$'\e[1m' red=$'\e[31m' yellow=$'\e[33m' plain=$'\e[0m'; else bold='' red='' yellow='' plain=''; fi
say() { printf '%s[shellbot]%s %s\n' "$bold" "$plain" "$*" >&2; }
warn() { printf '%s[shellbot] %s%s\n' "$yellow" "$*" "$plain" >&2; }
die() { printf '%s[shellbot] %s%s\n' "$red" "$*" "$plain" >&2; exit 1; }

# The text between "# usage:" and the first line that is no comment is a script's --help.
usage_of() { awk '/^# usage:/{on=1} on{ if ($0 !~ /^#/) exit; sub(/^# ?/, ""); print }' "$1"; }

# A path as the caller means it; the shell leaves a ~ after := alone.
absolute_path() {
  case "$1" in
    ''|/*) printf '%s' "$1" ;;
    \~/*) printf '%s' "$HOME/${1#\~/}" ;;
    *) printf '%s' "$PWD/$1" ;;
  esac
}
# action_folders:=A:B with absolute folders, all of which exist.
absolute_folders() {
  local folder path joined=""
  local -a folders
  IFS=: read -r -a folders <<< "${1#action_folders:=}"
  for folder in ${folders[@]+"${folders[@]}"}; do
    path="$(absolute_path "$folder")"
    [ -d "$path" ] || die "the folder of actions $path does not exist; create it or correct action_folders:="
    joined="${joined:+$joined:}$path"
  done
  printf 'action_folders:=%s' "$joined"
}

# catkin writes devel/setup.sh before it builds anything; scripts/setup writes the stamp after the build.
is_built() { [ -f "$SHELLBOT_WS/devel/setup.sh" ] && [ -f "$SHELLBOT_WS/devel/.shellbot.stamp" ]; }

# Set up what is missing and enter, with a script's arguments: who asks for help on a bare machine gets it, not an installation.
ready_workspace() {
  if ! is_built; then
    local arg
    for arg in "$@"; do
      case "$arg" in -h|--help) usage_of "$0"; echo "(more after scripts/setup)"; exit 0 ;; esac
    done
    "$SHELLBOT_WS/scripts/setup"
  fi
  enter_workspace
}

# Enter the built workspace: ROS, catkin's devel space and the workspace's own interpreter, whatever shell it was called from.
# A python3 that stands earlier on PATH (pyenv, conda) has no rospy: ours and the system's go first.
enter_workspace() {
  is_built || die "the workspace is not built, or not completely: run scripts/setup"
  local had_u=0
  case $- in *u*) had_u=1 ;; esac
  set +u
  export PATH="$SHELLBOT_VENV/bin:/usr/bin:/bin:$PATH"
  unset PYTHONHOME
  # shellcheck disable=SC1091
  . "$SHELLBOT_WS/devel/setup.sh"
  [ "$had_u" = 1 ] && set -u
  export PATH="$SHELLBOT_VENV/bin:$PATH"
  if [ -z "${ROSCONSOLE_FORMAT:-}" ]; then ROSCONSOLE_FORMAT='[${severity}] [${node}] ${message}'; fi
  export ROSCONSOLE_FORMAT
  export PYTHONUNBUFFERED=1
  # Matrices here are small, and what is large runs in several processes: threads of numpy's LAPACK would only wait for each other.
  export OPENBLAS_NUM_THREADS="${OPENBLAS_NUM_THREADS:-1}"
}

# run_module MODULE ARGUMENT ...: become that module's tool.
run_module() { exec "$SHELLBOT_PYTHON" "$SHELLBOT_WS/scripts/lib/run_module.py" "$@"; }
