"""The algorithms, each written once for any kind of scalar; rows, joints and frames hold what they share."""
