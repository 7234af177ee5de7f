// SPDX-License-Identifier: MIT
// Pinocchio without Python on the benchmark's leg: ns per call, one "name value" a line. Arguments: file of targets W
// (x y z a line), file of the gait (36 numbers a line: feet, velocities of six legs), seconds per measurement.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/kinematics.hpp>

#include "timing.hpp"

namespace pin = pinocchio;
using Matrix3 = Eigen::Matrix3d;
using Vector3 = Eigen::Vector3d;
using Jacobian34 = Eigen::Matrix<double, 3, 4>;

static pin::SE3 row(double alpha, double a, double theta, double d) {
  Matrix3 R = (Eigen::AngleAxisd(theta, Vector3::UnitZ()) * Eigen::AngleAxisd(alpha, Vector3::UnitX())).toRotationMatrix();
  return pin::SE3(R, Vector3(a * std::cos(theta), a * std::sin(theta), d));
}

// Add one leg to the model; returns its last joint. The tip lies 0.122 m along that joint's x axis.
static pin::JointIndex add_leg(pin::Model &model, int k) {
  const pin::SE3 places[4] = {row(0, 0.066, 0, -0.029), row(0, 0.120, 0, 0), row(-M_PI / 2, 0.038, 0, -0.02425),
                              row(0, 0.066, 0, 0.02425)};
  pin::JointIndex joint = 0;
  for (int j = 0; j < 4; ++j)
    joint = model.addJoint(joint, pin::JointModelRZ(), places[j], "j" + std::to_string(k) + "_" + std::to_string(j));
  return joint;
}

static const Vector3 TIP(0.122, 0, 0);

// Position and linear Jacobian of a leg's tip from joint placements and the world Jacobian's columns.
template <class Block> static Vector3 tip_jacobian(const pin::Data &data, pin::JointIndex joint, int first, Block &&J) {
  const Vector3 p = data.oMi[joint].act(TIP);
  for (int j = 0; j < 4; ++j)
    J.col(j) = data.J.col(first + j).head<3>() + data.J.col(first + j).tail<3>().cross(p);
  return p;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const double seconds = std::stod(argv[3]);
  std::vector<Vector3> targets;
  std::ifstream file(argv[1]);
  for (double x, y, z; file >> x >> y >> z;) targets.emplace_back(x, y, z);
  std::vector<Eigen::Matrix<double, 36, 1>> gait;
  std::ifstream walk(argv[2]);
  for (Eigen::Matrix<double, 36, 1> t;;) {
    for (int i = 0; i < 36; ++i) walk >> t[i];
    if (!walk) break;
    gait.push_back(t);
  }
  pin::Model leg;
  const pin::JointIndex last = add_leg(leg, 0);
  pin::Data data(leg);
  Eigen::VectorXd home(4);
  home << 0, 0, -0.5, 1.8;
  volatile double sink = 0;
  Eigen::VectorXd q = home;

  measure("fk", seconds, 1000, [&] {
    for (int i = 0; i < 1000; ++i) {
      q[3] = 1.8 + 1e-4 * i;
      pin::forwardKinematics(leg, data, q);
      sink = sink + data.oMi[last].act(TIP)[0];
    }
  });
  Jacobian34 J;
  measure("fk_jacobian", seconds, 1000, [&] {
    for (int i = 0; i < 1000; ++i) {
      q[3] = 1.8 + 1e-4 * i;
      pin::computeJointJacobians(leg, data, q);
      sink = sink + tip_jacobian(data, last, 0, J)[0] + J(0, 0);
    }
  });

  long reached = 0;
  measure("lm", seconds, double(targets.size()), [&] {
    reached = 0;
    Eigen::VectorXd best(4), trial(4);
    Jacobian34 at, next;
    for (const Vector3 &target : targets) {
      best = home;
      double mu = 0.05;
      pin::computeJointJacobians(leg, data, best);
      Vector3 e = target - tip_jacobian(data, last, 0, at);
      double E = e.squaredNorm();
      for (int it = 0; it < 100 && E > 1e-12; ++it) {
        Matrix3 A = at * at.transpose();
        A.diagonal().array() += mu * E;
        trial.noalias() = best + at.transpose() * (A.inverse() * e);
        pin::computeJointJacobians(leg, data, trial);
        const Vector3 f = target - tip_jacobian(data, last, 0, next);
        if (f.squaredNorm() < E) {
          best = trial;
          at = next;
          e = f;
          E = f.squaredNorm();
          mu *= 0.25;
        } else {
          mu *= 8;
        }
      }
      reached += E <= 1e-12;
      sink = sink + best[0];
    }
  });
  std::printf("lm_reached %ld\n", reached);

  pin::Model robot;
  pin::JointIndex lasts[6];
  for (int k = 0; k < 6; ++k) lasts[k] = add_leg(robot, k);
  pin::Data all(robot);
  Eigen::VectorXd state = home.replicate(6, 1);
  double worst = 0;
  measure("clik_tick", seconds, double(gait.size()), [&] {
    worst = 0;
    for (const auto &task : gait) {
      pin::computeJointJacobians(robot, all, state);
      for (int k = 0; k < 6; ++k) {
        const Vector3 e = task.segment<3>(3 * k) - tip_jacobian(all, lasts[k], 4 * k, J);
        Matrix3 A = J * J.transpose();
        A.diagonal().array() += 1e-8;
        state.segment<4>(4 * k) += 0.01 * (J.transpose() * (A.inverse() * (task.segment<3>(18 + 3 * k) + 50.0 * e)));
        worst = std::max(worst, e.norm());
      }
    }
  });
  std::printf("clik_worst_mm %.6f\n", 1e3 * worst);
  return 0;
}
