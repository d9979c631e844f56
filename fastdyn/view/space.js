"use strict";
// Vectors [x, y, z] and poses: the upper 3x4 of homogeneous matrices, row by row.
const space = (() => {
  const add = (a, b, k = 1) => [a[0] + k * b[0], a[1] + k * b[1], a[2] + k * b[2]];
  const sub = (a, b) => add(a, b, -1);
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const size = (a) => Math.hypot(...a);
  const unit = (a) => { const l = size(a) || 1; return [a[0] / l, a[1] / l, a[2] / l]; };

  function times(A, B) {
    const C = new Array(12);
    for (let r = 0; r < 12; r += 4)
      for (let c = 0; c < 4; c++) C[r + c] = A[r] * B[c] + A[r + 1] * B[4 + c] + A[r + 2] * B[8 + c] + (c === 3 ? A[r + 3] : 0);
    return C;
  }
  // of a joint: its moved frame on its frame at zero
  function motion({ kind, axis: [x, y, z], pitch }, value) {
    const turned = kind === "revolute" || kind === "helical" ? value : 0;
    const d = kind === "prismatic" ? value : pitch * turned, c = Math.cos(turned), s = Math.sin(turned), v = 1 - c;
    return [
      x * x * v + c, x * y * v - z * s, x * z * v + y * s, d * x,
      x * y * v + z * s, y * y * v + c, y * z * v - x * s, d * y,
      x * z * v - y * s, y * z * v + x * s, z * z * v + c, d * z,
    ];
  }
  const origin = (T) => [T[3], T[7], T[11]];
  const turned = (T, [x, y, z]) => [0, 4, 8].map((r) => T[r] * x + T[r + 1] * y + T[r + 2] * z);

  return { add, sub, dot, cross, size, unit, times, motion, origin, turned };
})();
