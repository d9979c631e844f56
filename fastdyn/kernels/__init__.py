"""The algorithms, one text each, over any kind of scalar; rows, joints, frames and vectors are their vocabulary."""
