# SPDX-License-Identifier: MIT
"""Numbers of an action file that depend on its parameters, such as ``0.5 * height``."""

from __future__ import annotations

import ast
import math
import operator
from typing import Any, Callable, Dict, Mapping, Union

from shellbot_action_manager.errors import ActionError
from shellbot_common import short

Number = Union[int, float]
_MOST_CHARACTERS = 200  # of an expression
_BINARY: Dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}
_UNARY: Dict[type, Callable[..., Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_}
_COMPARE: Dict[type, Callable[..., Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_FUNCTIONS: Dict[str, Callable[..., Any]] = {"abs": abs, "min": min, "max": max, "sin": math.sin, "cos": math.cos}


def evaluate(value: Any, parameters: Mapping[str, Number]) -> Number:
    """Return a number, or what an expression of parameters, numbers, ``+ - * / %``, comparisons and functions gives.

    Parameters
    ----------
    value : int, float, bool or str
        A text is an expression; functions are abs, min, max, sin and cos (of rad).
    parameters : mapping of str to number
        Their present values.

    Raises
    ------
    ActionError
        If it is neither, names something unknown, or its value is not finite.
    """
    if isinstance(value, str) and len(value) > _MOST_CHARACTERS:
        raise ActionError(
            f"{short(value)} has {len(value)} characters; give an expression of {_MOST_CHARACTERS} at most"
        )
    try:
        found = value
        if isinstance(value, str):
            found = _value(ast.parse(value, mode="eval").body, parameters)
        is_finite = isinstance(found, (int, float)) and math.isfinite(found)
    # MemoryError is what Python 3.8 says of brackets that are nested too deeply
    except (SyntaxError, ArithmeticError, TypeError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, ActionError):
            raise
        why = str(error) or "nested too deeply"
        raise ActionError(f"{short(value)} cannot be computed ({why}); give a number or an expression") from None
    if not is_finite:
        raise ActionError(f"{short(value)} is no finite number; give one, or an expression of {_known(parameters)}")
    return found


def _value(node: ast.AST, parameters: Mapping[str, Number]) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.Name):
        if node.id not in parameters:
            raise ActionError(f"there is no parameter '{node.id}'; there are {_known(parameters)}")
        return parameters[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_value(node.left, parameters), _value(node.right, parameters))
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        return _UNARY[type(node.op)](_value(node.operand, parameters))
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARE:
        left, right = _value(node.left, parameters), _value(node.comparators[0], parameters)
        return _COMPARE[type(node.ops[0])](left, right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        if node.func.id in _FUNCTIONS:
            return _FUNCTIONS[node.func.id](*(_value(argument, parameters) for argument in node.args))
        raise ActionError(f"there is no function '{node.func.id}'; there are {', '.join(_FUNCTIONS)}")
    raise ActionError(f"'{ast.dump(node)[:40]}' is not understood; use numbers, parameters, + - * / %, comparisons")


def _known(parameters: Mapping[str, Number]) -> str:
    return ", ".join(parameters) or "no parameters"
