// Pinocchio's kinematics in C++, called from benchmarks/kinematics.py: loops over states, nothing of Python inside.
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/kinematics.hpp>

using namespace pinocchio;

struct Robot {
    Model model;
    Data data;
    FrameIndex frame;
};

static SE3 placement(const double *T) {
    return SE3(Eigen::Matrix4d(Eigen::Map<const Eigen::Matrix<double, 4, 4, Eigen::RowMajor>>(T)));
}

// A chain of joints about z, Pinocchio's fastest kind (along z where slides[k]): n placements, then the frame's.
extern "C" Robot *make(const double *placements, const long *slides, long n) {
    Model model;
    JointIndex last = 0;
    for (long k = 0; k < n; ++k) {
        const SE3 before = placement(placements + 16 * k);
        const std::string name = "joint" + std::to_string(k);
        last = slides[k] ? model.addJoint(last, JointModelPZ(), before, name)
                         : model.addJoint(last, JointModelRZ(), before, name);
    }
    const FrameIndex frame = model.addFrame(Frame("tip", last, placement(placements + 16 * n), OP_FRAME));
    return new Robot{model, Data(model), frame};
}

extern "C" void poses(Robot *robot, const double *q, double *out, long states) {
    const int n = robot->model.nq;
    for (long k = 0; k < states; ++k) {
        Eigen::Map<const Eigen::VectorXd> state(q + k * n, n);
        forwardKinematics(robot->model, robot->data, state);
        const SE3 &pose = updateFramePlacement(robot->model, robot->data, robot->frame);
        Eigen::Map<Eigen::Matrix<double, 4, 4, Eigen::RowMajor>>(out + 16 * k) = pose.toHomogeneousMatrix();
    }
}

// forwardKinematics alone, without the frame and without writing anything
extern "C" void joints_only(Robot *robot, const double *q, double *, long states) {
    const int n = robot->model.nq;
    for (long k = 0; k < states; ++k)
        forwardKinematics(robot->model, robot->data, Eigen::Map<const Eigen::VectorXd>(q + k * n, n));
}

extern "C" void jacobians(Robot *robot, const double *q, double *out, long states) {
    const int n = robot->model.nq;
    Data::Matrix6x J(6, n);
    J.setZero();
    for (long k = 0; k < states; ++k) {
        Eigen::Map<const Eigen::VectorXd> state(q + k * n, n);
        computeFrameJacobian(robot->model, robot->data, state, robot->frame, LOCAL_WORLD_ALIGNED, J);
        Eigen::Map<Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor>>(out + 6 * n * k, 6, n) = J;
    }
}
