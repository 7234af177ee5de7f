// SPDX-License-Identifier: MIT
// urdf_to_sdf FILE: prints what Gazebo's own library makes of a URDF. For test_gazebo_conversion.py.
#include <iostream>
#include <sdf/sdf.hh>

int main(int, char **arguments)
{
  sdf::SDFPtr model(new sdf::SDF());
  sdf::Errors errors;
  if (!sdf::init(model) || !sdf::readFile(arguments[1], model, errors))
  {
    for (const auto &error : errors) std::cerr << error.Message() << "\n";
    return 1;
  }
  std::cout << model->ToString();
}
