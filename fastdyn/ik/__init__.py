"""Inverse kinematics: joint coordinates from the pose of a frame."""
