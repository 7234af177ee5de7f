// SPDX-License-Identifier: MIT
// Pinocchio's dynamics without Python: ns per call, one "name value" a line. Arguments: seconds per measurement, then the
// files of robots, named as they are. A line for each joint, parents first: number of its parent, its axis (x, y, z, or f for
// a base that floats), rotation (row by row) and position in the parent, and of its body mass, centre of mass and
// xx, xy, yy, xz, yz, zz of the tensor about it.
#include <array>
#include <cstdlib>
#include <fstream>
#include <string>

#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "timing.hpp"

namespace pin = pinocchio;

static pin::Model read_model(const std::string &path) {
  pin::Model model;
  std::ifstream file(path);
  pin::JointIndex parent;
  for (char axis; file >> parent >> axis;) {
    std::array<double, 22> n;
    for (double &x : n) file >> x;
    pin::SE3 place;
    place.rotation() << n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8];
    place.translation() << n[9], n[10], n[11];
    pin::JointModel joint = pin::JointModelRZ();
    if (axis == 'x') joint = pin::JointModelRX();
    if (axis == 'y') joint = pin::JointModelRY();
    if (axis == 'f') joint = pin::JointModelFreeFlyer();
    const auto id = model.addJoint(parent, joint, place, "j" + std::to_string(model.njoints));
    const pin::Symmetric3 tensor(n[16], n[17], n[18], n[19], n[20], n[21]);
    model.appendBodyToJoint(id, pin::Inertia(n[12], {n[13], n[14], n[15]}, tensor), pin::SE3::Identity());
  }
  return model;
}

int main(int argc, char **argv) {
  const double seconds = std::atof(argv[1]);
  for (int i = 2; i < argc; ++i) {
    const pin::Model model = read_model(argv[i]);
    std::string name = argv[i];
    name = name.substr(name.rfind('/') + 1);
    pin::Data data(model);
    const Eigen::VectorXd start = Eigen::VectorXd::LinSpaced(model.nv, -0.9, 0.8);
    Eigen::VectorXd q = pin::integrate(model, pin::neutral(model), start), v = 0.7 * start, a = -1.3 * start;
    const int last = model.nv - 1;
    // as in ours, each call begins where the one before changed something a little
    measure((name + "_inverse").c_str(), seconds, 1000, [&] {
      for (int k = 0; k < 1000; ++k) v[0] += 1e-12 * pin::rnea(model, data, q, v, a)[last];
    });
    measure((name + "_mass_matrix").c_str(), seconds, 1000, [&] {
      for (int k = 0; k < 1000; ++k) q[0] += 1e-12 * pin::crba(model, data, q)(last, last);
    });
    const Eigen::VectorXd tau = pin::rnea(model, data, q, v, a);
    measure((name + "_forward").c_str(), seconds, 1000, [&] {
      for (int k = 0; k < 1000; ++k) v[0] += 1e-12 * pin::aba(model, data, q, v, tau)[last];
    });
  }
  return 0;
}
