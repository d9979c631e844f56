"use strict";
const view = (() => {
  const { add, sub, dot, cross, size, unit, times, motion, origin, turned } = space;
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("motion").textContent);
  const { mount, joints, tips, coordinates } = data.scene;
  function unpacked(text, kind) {
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k);
    return new kind(bytes.buffer);
  }
  const t = unpacked(data.t, Float64Array), n = coordinates.length, K = t.length, last = K - 1;
  const samples = { q: unpacked(data.q, Float32Array), qd: unpacked(data.qd, Float32Array) };
  if (data.tau) samples.tau = unpacked(data.tau, Float32Array);
  const energies = data.energies.map(([name, text]) => ({ name, values: unpacked(text, Float32Array) }));
  const DIGITS = Math.max(2, Math.ceil(2 - Math.log10(t[last] - t[0] || 1))); // of times
  const FULL = 0.999; // of a limit: from here on a value counts as at its limit
  const LIMITS = { tau: "torque", qd: "speed", q: "position" };
  let hovered = null, pinned = null; // coordinates highlighted: pointed at, clicked
  const lit = () => hovered ?? pinned;
  let now = t[0], playing = false, speed = 1;

  // ------------------------------------------------------------------------------------------ samples

  // The sample before a time, and how far on to the next one it is.
  function place(time) {
    let low = 0, high = last;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (t[middle] <= time) low = middle; else high = middle;
    }
    return [low, high > low ? Math.min(Math.max((time - t[low]) / (t[high] - t[low]), 0), 1) : 0];
  }
  function between(values, time, width = 1, column = 0) {
    const [k, part] = place(time), a = values[k * width + column];
    return part ? a + part * (values[(k + 1) * width + column] - a) : a;
  }
  const state = (what, time) => coordinates.map((_, i) => between(samples[what], time, n, i));
  // Values as parts of their limits, -1 to 1, or of the largest value of all joints with this unit that have no limits.
  const limitOf = {
    tau: ({ tau }) => tau && [-tau, tau], qd: ({ qd }) => qd && [-qd, qd],
    q: ({ position: [a, b] }) => a !== null && b !== null && b > a && [a, b],
  };
  const largest = (what) => {
    const found = {};
    coordinates.forEach((each, i) => {
      if (limitOf[what](each)) return;
      for (let k = 0; k < K; k++) found[each.units[what]] = Math.max(found[each.units[what]] ?? 0, Math.abs(samples[what][k * n + i]));
    });
    return found;
  };
  const scales = Object.fromEntries(Object.keys(samples).map((what) => [what, largest(what)]));
  function part(what, i, x) {
    const limits = limitOf[what](coordinates[i]);
    return limits ? (2 * x - limits[0] - limits[1]) / (limits[1] - limits[0]) : x / (scales[what][coordinates[i].units[what]] || 1);
  }
  // For each coordinate the limits it is at: some of torque, speed, position.
  const fullAt = (time) => {
    const found = coordinates.map(() => []);
    for (const what of ["tau", "qd", "q"]) if (samples[what]) state(what, time).forEach((x, i) => {
      if (limitOf[what](coordinates[i]) && Math.abs(part(what, i, x)) >= FULL) found[i].push(LIMITS[what]);
    });
    return found;
  };

  // ------------------------------------------------------------------------------------------ kinematics and the camera

  // Poses in the world: of the links, of the joints on their parents (hinges), and of the joints as moved.
  function poses(q) {
    const links = [mount], hinges = [], moved = [];
    joints.forEach((joint, j) => {
      hinges[j] = times(links[joint.parent], joint.origin);
      const value = joint.by.reduce((sum, [i, factor]) => sum + factor * q[i], joint.offset);
      moved[j] = times(hinges[j], motion(joint, value));
      links.push(times(moved[j], joint.tail));
    });
    return { links, hinges, moved };
  }

  // What the motion occupies, and the paths of the tips.
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  const paths = tips.map(() => []), pathTimes = [], stride = Math.max(1, Math.ceil(K / 1500));
  for (let k = 0; ; k = Math.min(k + stride, last)) {
    const at = poses(samples.q.subarray(k * n, k * n + n));
    for (const T of [...at.links, ...at.hinges])
      for (const [i, x] of origin(T).entries()) { low[i] = Math.min(low[i], x); high[i] = Math.max(high[i], x); }
    tips.forEach((link, i) => paths[i].push(origin(at.links[link])));
    pathTimes.push(t[k]);
    if (k === last) break;
  }
  const base = origin(mount), whole = Math.max(size(sub(high, low)), 0.05);
  // the robot's own size: its longest way from the base, so that thickness does not depend on the motion
  const reach = [0];
  { const at = poses(samples.q.subarray(0, n));
    joints.forEach((joint, j) => { reach[j + 1] = reach[joint.parent] + size(sub(origin(at.hinges[j]), origin(at.links[joint.parent]))) + size(sub(origin(at.links[j + 1]), origin(at.moved[j]))); }); }
  const length = Math.max(...reach) || whole, thick = 0.026 * length;
  const floor = low[2] < -0.02 * length ? low[2] - thick : 0; // below whatever reaches below the origin

  // from the side: across the direction in which the tips lie
  const tipsAt = paths.flat().reduce((sum, p) => add(sum, sub(p, base)), [0, 0, 0]);
  const start = { azimuth: Math.hypot(tipsAt[0], tipsAt[1]) > 1e-6 * length ? Math.atan2(tipsAt[1], tipsAt[0]) - 1.15 : -0.85, elevation: 0.3, zoom: 1 }, camera = { ...start };
  const target = [0, 1, 2].map((i) => (Math.min(low[i], i === 2 ? floor : low[i]) + high[i]) / 2);
  const round = (size([high[0] - low[0], high[1] - low[1], high[2] - Math.min(low[2], floor)]) / 2 || 1) + 3 * thick;

  const arm = byId("arm"), ctx = arm.getContext("2d");
  let width = 1, height = 1, lens = null;
  function aim() {
    const { azimuth: a, elevation: e, zoom } = camera, away = 4.2 * round;
    const back = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
    const right = [-Math.sin(a), Math.cos(a), 0], up = cross(back, right);
    lens = { back, right, up, eye: add(target, back, away), away, scale: (0.56 * Math.min(width, height) * zoom * away) / round };
  }
  function seen(p) {
    const d = sub(p, target), depth = lens.away - dot(d, lens.back), k = lens.scale / Math.max(depth, 0.05 * lens.away);
    return [width / 2 + k * dot(d, lens.right), height / 2 - k * dot(d, lens.up), depth, k];
  }

  // ------------------------------------------------------------------------------------------ colours

  const probe = document.createElement("i");
  probe.hidden = true;
  document.body.append(probe);
  const rgb = (name) => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number); };
  const css = ([r, g, b], alpha = 1) => `rgb(${r | 0} ${g | 0} ${b | 0} / ${alpha})`;
  const fontFamily = getComputedStyle(document.body).fontFamily;
  let colours = {};
  const series = (i) => colours[`series-${(i % 8) + 1}`];
  function readColours() {
    for (const name of ["ink", "faint", "grid", "paper", "alert", ...Array.from({ length: 8 }, (_, i) => `series-${i + 1}`)]) colours[name] = rgb(name);
    colours.dark = colours.paper[0] < 100;
    colours.metal = colours.dark ? [150, 160, 172] : [186, 194, 203];
  }
  const DASHES = [[], [7, 3], [7, 3, 2, 3], [2, 2.5]]; // lines are told apart in grey, too

  // ------------------------------------------------------------------------------------------ the arm

  // Faces of a solid of revolution about an axis from a point: profile has [distance along, radius] pairs.
  function lathe(faces, from, axis, profile, sides, colour) {
    const u = unit(cross(axis, Math.abs(axis[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0])), v = cross(axis, u);
    const ring = ([along, radius]) => Array.from({ length: sides }, (_, i) => {
      const angle = (2 * Math.PI * (i + 0.5)) / sides;
      return add(add(add(from, axis, along), u, radius * Math.cos(angle)), v, radius * Math.sin(angle));
    });
    const rings = profile.map(ring);
    const face = (points, normal) => {
      if (dot(normal, sub(lens.eye, points[0])) <= 0) return;
      const flat = points.map(seen), light = dot(normal, unit(add(add(lens.back, lens.up, 0.9), lens.right, -0.6)));
      const shade = 0.5 + 0.5 * Math.max(light, 0) + 0.18 * Math.max(light, 0) ** 12;
      const depth = flat.reduce((sum, p) => sum + p[2], 0) / flat.length;
      faces.push({ depth, flat, fill: css(colour.map((c) => Math.min(255, c * shade))) });
    };
    for (let k = 0; k + 1 < rings.length; k++)
      for (let i = 0; i < sides; i++) {
        const j = (i + 1) % sides, points = [rings[k][i], rings[k][j], rings[k + 1][j], rings[k + 1][i]];
        face(points, unit(cross(sub(points[2], points[0]), sub(points[3], points[1]))));
      }
    face(rings[0], axis.map((x) => -x));
    face(rings[rings.length - 1], axis);
  }
  function capsule(faces, a, b, r, colour) {
    const d = sub(b, a), l = size(d), pieces = Math.max(1, Math.ceil(l / (2.5 * r)));
    if (l < 1e-3 * r) return;
    const bend = [90, 50, 20].map((x) => (x * Math.PI) / 180), profile = bend.map((x) => [-r * Math.sin(x), r * Math.cos(x) + 1e-6 * r]);
    for (let k = 0; k <= pieces; k++) profile.push([(l * k) / pieces, r]);
    for (const x of [...bend].reverse()) profile.push([l + r * Math.sin(x), r * Math.cos(x) + 1e-6 * r]);
    lathe(faces, a, unit(d), profile, 14, colour);
  }
  // Links from their joint along its axis and then across, as Denavit and Hartenberg measure; then to the joints they carry.
  function segments(at) {
    const found = [];
    joints.forEach((joint, j) => {
      const moved = origin(at.moved[j]), child = origin(at.links[j + 1]), axis = turned(at.moved[j], joint.axis);
      const elbow = add(moved, axis, dot(axis, sub(child, moved)));
      found.push([origin(at.links[joint.parent]), origin(at.hinges[j])], [moved, elbow], [elbow, child]);
    });
    return found.filter(([a, b]) => size(sub(a, b)) > 1e-6 * length);
  }
  function line(points, colour, wide) {
    ctx.beginPath();
    points.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
    ctx.strokeStyle = colour;
    ctx.lineWidth = wide;
    ctx.stroke();
  }
  function text(c, font, words, x, y, colour) { // with a halo
    Object.assign(c, { font: `${font} ${fontFamily}`, textAlign: "center", textBaseline: "middle", lineWidth: 4, strokeStyle: css(colours.paper, 0.85), fillStyle: colour });
    c.strokeText(words, x, y);
    c.fillText(words, x, y);
  }
  function drawGrid() {
    const power = 10 ** Math.floor(Math.log10(round / 4)), step = power * [1, 2, 5, 10].find((x) => power * x >= round / 4);
    const cells = Math.ceil((1.5 * round) / step), x0 = Math.round(target[0] / step), y0 = Math.round(target[1] / step);
    for (let k = -cells; k <= cells; k++)
      for (const [a, b] of [[[x0 + k, y0 - cells], [x0 + k, y0 + cells]], [[x0 - cells, y0 + k], [x0 + cells, y0 + k]]])
        line([a, b].map(([x, y]) => seen([x * step, y * step, floor])), css(colours.grid, colours.dark ? 0.9 : 1), 1);
    return step;
  }
  function drawArm() {
    if (!lens) return;
    const q = state("q", now), at = poses(q), full = fullAt(now), faces = [];
    ctx.clearRect(0, 0, width, height);
    ctx.lineJoin = ctx.lineCap = "round";
    const step = drawGrid(), parts = segments(at);
    if (lens.eye[2] > floor) // the shadow
      for (const part of parts) {
        const flat = part.map(([x, y]) => seen([x, y, floor]));
        line(flat, colours.dark ? "rgb(0 0 0 / .25)" : "rgb(31 35 40 / .09)", 1.9 * thick * flat[0][3]);
      }
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]].forEach((axis, i) => { // the base's axes
      const end = add(base, turned(mount, axis), 0.2 * length), [x, y] = seen(add(base, turned(mount, axis), 0.225 * length));
      line([seen(base), seen(end)], css(series([1, 2, 0][i])), 2);
      text(ctx, "600 13px", "xyz"[i], x, y, css(series([1, 2, 0][i])));
    });
    paths.forEach((path) => { // pieces of the paths, sorted with the arm's faces
      for (let k = 0; k + 1 < path.length; k++) {
        const flat = [path[k], path[k + 1]].map(seen), past = pathTimes[k] <= now;
        faces.push({ depth: flat[0][2], flat, open: css(past ? colours["series-5"] : colours.faint, past ? 0.95 : 0.35), wide: past ? 2.4 : 1.2 });
      }
    });
    for (const [a, b] of parts) capsule(faces, a, b, thick, colours.metal);
    lathe(faces, add(base, turned(mount, [0, 0, 1]), -0.6 * thick), turned(mount, [0, 0, 1]), [[0, 2.8 * thick], [0.6 * thick, 2.8 * thick]], 20, colours.metal.map((c) => 0.8 * c));
    const marks = [];
    joints.forEach((joint, j) => {
      if (!joint.by.length) return;
      const centre = origin(at.moved[j]), axis = turned(at.moved[j], joint.axis), saturated = joint.by.some(([i]) => full[i].length), chosen = joint.by.some(([i]) => i === lit());
      const sliding = joint.kind === "prismatic", r = thick * (saturated || chosen ? 2.1 : 1.65), half = 1.9 * thick;
      if (sliding || joint.kind === "helical") capsule(faces, origin(at.hinges[j]), centre, 0.45 * thick, colours.metal.map((c) => 0.85 * c));
      const colour = saturated ? colours.alert : series(joint.by[0][0]);
      lathe(faces, add(centre, axis, -half), axis, [[0, r], [0.66 * half, r], [1.33 * half, r], [2 * half, r]], sliding ? 4 : joint.kind === "helical" ? 6 : 18, colour);
      lathe(faces, add(centre, axis, -1.5 * half), axis, [[0, 0.2 * thick], [3 * half, 0.2 * thick]], 8, colours.ink); // its axis
      marks.push({ at: add(centre, axis, 2 * half), centre, saturated, chosen, words: joint.by.map(([i]) => i + 1).join("+"), colour, r });
    });
    faces.sort((a, b) => b.depth - a.depth);
    for (const { flat, fill, open, wide } of faces) {
      if (open) { line(flat, open, wide); continue; }
      ctx.beginPath();
      flat.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
      ctx.closePath();
      ctx.fillStyle = ctx.strokeStyle = fill;
      ctx.lineWidth = 0.6; // closes the seams between faces
      ctx.fill();
      ctx.stroke();
    }
    const labels = new Map(); // joints whose axes end at one place share a label
    for (const mark of marks) {
      const [x, y, , k] = seen(mark.at), [cx, cy] = seen(mark.centre);
      if (mark.saturated || mark.chosen) {
        ctx.beginPath();
        ctx.arc(cx, cy, 2.1 * mark.r * k, 0, 2 * Math.PI);
        ctx.strokeStyle = css(mark.saturated ? colours.alert : mark.colour);
        ctx.lineWidth = mark.saturated ? 3 : 2;
        ctx.stroke();
      }
      const near = [...labels.values()].find((other) => Math.hypot(other.x - x, other.y - y) < 14);
      if (near) near.words += `, ${mark.words}`; else labels.set(mark, { ...mark, x, y });
    }
    for (const { words, x, y } of labels.values()) text(ctx, "600 13px", words, x, y, css(colours.ink));
    ctx.font = `12px ${fontFamily}`;
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    ctx.fillStyle = css(colours.faint);
    ctx.fillText(`grid ${+step.toPrecision(3)} m`, 12, height - 12);
    const said = Object.values(LIMITS).map((what) => [what, coordinates.filter((_, i) => full[i].includes(what)).map((each) => each.name)]);
    const words = said.filter(([, names]) => names.length).map(([what, names]) => `⚠ ${what} limit: ${names.join(", ")}`).join("; ");
    if (byId("warning").textContent !== words) byId("warning").textContent = words;
  }

  // ------------------------------------------------------------------------------------------ strips

  const shown = (x) => (Object.is(x, -0) || Math.abs(x) < 5e-7 ? "0" : Math.abs(x) >= 1e5 ? x.toExponential(2) : `${+x.toPrecision(Math.abs(x) >= 1000 ? 4 : 3)}`).replace("-", "−");
  const percent = (x) => `${(100 * x).toFixed(1)} %`.replace("-", "−");
  // one strip for each quantity, with a line for each coordinate
  const strips = [];
  for (const what of Object.keys(LIMITS)) {
    if (!samples[what]) continue;
    const lines = coordinates.map((each, i) => {
      const values = Float32Array.from({ length: K }, (_, k) => part(what, i, samples[what][k * n + i]));
      const words = (time) => `${shown(between(samples[what], time, n, i))} ${each.units[what]} (${percent(between(values, time))})`;
      return { i, label: `${i + 1}`, name: each.name, values, words, limited: Boolean(limitOf[what](each)) };
    });
    const free = lines.filter((each) => !each.limited).map((each) => each.label);
    const most = Object.entries(scales[what]).map(([unit, x]) => `${shown(x)} ${unit}`).join(" and ");
    const ofLimit = what === "q" ? "% of the way from the middle of its range to a limit" : "% of its limit";
    const ofLargest = `% of the largest value, ${most}`;
    const about = free.length === n ? `${ofLargest}; no limits are known` : ofLimit + (free.length ? `; without a limit (${free.join(", ")}): ${ofLargest}` : "");
    const units = [...new Set(coordinates.map((each) => each.units[what]))];
    const title = what === "tau" && units.every((unit) => unit === "N") ? "force" : what === "tau" && units.length > 1 ? "torque or force" : LIMITS[what];
    strips.push({ what, title, about, parts: true, limited: free.length < n, lines });
  }
  if (energies.length) strips.push({
    what: "energy", title: "energy", about: "J", parts: false, limited: false,
    lines: energies.map(({ name, values }, i) => ({ i, label: name, name, values, words: (time) => `${shown(between(values, time))} J`, always: true })),
  });

  const hue = (each) => (each.always ? [1, 0, 7][each.i] ?? each.i : each.i), inkOf = (each) => series(hue(each));
  const LEFT = 58, RIGHT = 74, TOP = 6, AXIS = 26;
  const across = (strip, time) => LEFT + ((time - t[0]) / (t[last] - t[0] || 1)) * (strip.width - LEFT - RIGHT);
  // [value, words] of round values from a to b
  function ticks(a, b, most) {
    const rough = (b - a) / most || 1, power = 10 ** Math.floor(Math.log10(rough)), step = power * [1, 2, 5, 10].find((x) => x * power >= rough * 0.999);
    const found = [];
    for (let k = Math.ceil(a / step - 1e-9); k * step <= b + 1e-9 * step; k++) found.push([k * step, label(k * step, step)]);
    return found;
  }
  function label(x, step) { // as many decimals as the step has
    const words = (Math.abs(x) < 1e-9 * step ? 0 : x).toFixed(Math.min(Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)), 12));
    return (words.length > 12 ? x.toExponential(2) : words).replace("-", "−");
  }

  function range(strip) {
    let a = Infinity, b = -Infinity;
    for (const { values } of strip.lines) for (const x of values) { if (x < a) a = x; if (x > b) b = x; }
    if (strip.parts) {
      const most = Math.max(Math.abs(a), Math.abs(b));
      return most >= 0.4 ? [-Math.max(1, most) * 1.12, Math.max(1, most) * 1.12] : [-1.15 * most || -1, 1.15 * most || 1];
    }
    const margin = 0.08 * (b - a) || Math.abs(a) * 0.1 || 1;
    return [a - margin, b + margin];
  }
  function drawStrip(strip, isLast) {
    const canvas = strip.canvas, pixels = devicePixelRatio || 1, box = strip.figure.clientWidth, tall = (matchMedia("(max-width: 48rem)").matches ? 104 : 112) + (isLast ? AXIS : 0);
    strip.width = box;
    canvas.style.height = `${tall}px`;
    canvas.width = Math.round(box * pixels);
    canvas.height = Math.round(tall * pixels);
    const c = canvas.getContext("2d"), bottom = tall - (isLast ? AXIS : 0) - 4, lines = strip.lines, [a, b] = (strip.range ??= range(strip)), scale = strip.parts ? 100 : 1;
    const x = (time) => across(strip, time), y = (value) => bottom - ((value - a) / (b - a)) * (bottom - TOP);
    const right = box - RIGHT;
    Object.assign(strip.rule.style, { top: `${canvas.offsetTop + TOP}px`, height: `${bottom - TOP}px` });
    c.scale(pixels, pixels);
    c.font = `11.5px ${fontFamily}`;
    c.textBaseline = "middle";
    c.lineJoin = "round";
    const stroke = (colour, wide, dash, points) => {
      c.beginPath();
      for (const [px, py, move] of points) if (move) c.moveTo(px, py); else c.lineTo(px, py);
      c.strokeStyle = colour; c.lineWidth = wide; c.setLineDash(dash); c.stroke(); c.setLineDash([]);
    };
    // of samples in one column of pixels the extremes
    const trace = (values, from = 0, to = last) => {
      const found = [];
      for (let k = from, end; k <= to; k = end + 1) {
        let low = k, high = k;
        for (end = k; end < to && Math.round(x(t[end + 1])) === Math.round(x(t[k])); ) {
          end++;
          if (values[end] < values[low]) low = end; else if (values[end] > values[high]) high = end;
        }
        for (const i of new Set([Math.min(low, high), Math.max(low, high)])) found.push([x(t[i]), y(values[i]), !found.length]);
      }
      return found;
    };
    c.textAlign = "right";
    for (const [value, words] of ticks(scale * a, scale * b, 4)) {
      stroke(css(colours.grid), 1, [], [[LEFT, y(value / scale), true], [right, y(value / scale)]]);
      c.fillStyle = css(colours.faint);
      c.fillText(strip.parts ? `${words} %` : words, LEFT - 6, y(value / scale));
    }
    c.textAlign = "center";
    const wide = c.measureText(label(t[last], (t[last] - t[0]) / 10)).width + 28;
    for (const [time, words] of ticks(t[0], t[last], Math.max(2, Math.min(10, (right - LEFT) / wide)))) {
      stroke(css(colours.grid), 1, [], [[x(time), TOP, true], [x(time), bottom]]);
      if (isLast) c.fillText(words, x(time), bottom + 12);
    }
    if (isLast) { c.textAlign = "right"; c.fillText("time [s]", box, bottom + 12); }
    c.textAlign = "center";
    if (strip.limited) for (const limit of [-1, 1])
      if (limit >= a && limit <= b) stroke(css(colours.ink, 0.75), 1.2, [5, 3], [[LEFT, y(limit), true], [right, y(limit)]]);
    c.fillStyle = css(colours.alert, 0.16);
    for (const [from, to] of lines.flatMap(spans)) c.fillRect(x(t[from]) - 1, TOP, x(t[to]) - x(t[from]) + 2, bottom - TOP);
    for (const each of lines) {
      const points = trace(each.values), climb = points.reduce((sum, p, k) => sum + Math.abs(p[1] - points[Math.max(k - 1, 0)][1]), 0);
      const chosen = !each.always && each.i === lit(), faded = !each.always && lit() !== null && !chosen;
      stroke(css(inkOf(each), faded ? 0.18 : 1), chosen ? 3 : 1.7, climb > 20 * box ? [] : DASHES[(each.i + (each.i >> 3)) % 4], points);
    }
    const taken = []; // places of names
    for (const each of lines) {
      const { values, label } = each;
      for (const [from, to] of spans(each)) {
        const points = trace(values, from, to);
        if (points.length === 1) points.push([points[0][0] + 1, points[0][1]]);
        stroke(css(colours.alert), 4.5, [], points);
        const [middle, at] = points[points.length >> 1], inside = at + (values[from] > 0 ? 12 : -12);
        if (taken.some(([px, py]) => Math.abs(px - middle) < 16 && Math.abs(py - inside) < 10)) continue;
        taken.push([middle, inside]);
        text(c, "700 12px", `⚠${label}`, middle, inside, css(colours.alert));
      }
    }
    // the lines' names at their ends, moved apart
    const ends = lines.map((each) => ({ each, at: y(each.values[last]), put: 0 })).sort((p, q) => p.at - q.at);
    const gap = Math.min(12, (bottom - TOP) / Math.max(ends.length, 1));
    ends.forEach((end, k) => { end.put = Math.max(end.at, k ? ends[k - 1].put + gap : TOP + 4); });
    for (let k = ends.length - 1; k >= 0; k--) ends[k].put = Math.min(ends[k].put, k + 1 < ends.length ? ends[k + 1].put - gap : bottom - 2);
    c.textAlign = "left";
    c.font = `600 11.5px ${fontFamily}`;
    for (const { each, at, put } of ends) {
      const colour = css(inkOf(each), each.always || lit() === null || each.i === lit() ? 1 : 0.3);
      stroke(colour, 1, [], [[right + 1, at, true], [right + 8, put]]);
      c.fillStyle = colour;
      c.fillText(each.label, right + 11, put);
    }
  }
  const spanned = new Map();
  function spans({ values, limited }) { // [first, last] samples of each stretch at the limit
    if (!limited) return [];
    if (spanned.has(values)) return spanned.get(values);
    const found = [];
    for (let k = 0; k < K; k++) if (Math.abs(values[k]) >= FULL) {
      if (found.length && found[found.length - 1][1] === k - 1) found[found.length - 1][1] = k; else found.push([k, k]);
    }
    spanned.set(values, found);
    return found;
  }

  for (const strip of K > 1 ? strips : []) {
    const figure = document.createElement("figure"), caption = document.createElement("figcaption"), about = document.createElement("small");
    const canvas = document.createElement("canvas"), rule = document.createElement("div"), values = document.createElement("div");
    figure.className = "strip";
    figure.dataset.strip = strip.what;
    caption.append(strip.title[0].toUpperCase() + strip.title.slice(1), about);
    about.textContent = strip.about + (strip.limited ? "; limits dashed" : "");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${strip.title} over time, ${strip.about}`);
    rule.className = "cursor";
    values.className = "values";
    figure.append(caption, canvas, rule, values);
    byId("strips").append(figure);
    Object.assign(strip, { figure, canvas, rule, values });
    const point = (event, click) => {
      const x = event.clientX - canvas.getBoundingClientRect().left;
      const time = t[0] + (Math.min(Math.max((x - LEFT) / (strip.width - LEFT - RIGHT), 0), 1)) * (t[last] - t[0]);
      if (click) go(time);
      tell(strip, click ? now : time);
    };
    canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); setPlaying(false); point(event, true); });
    canvas.addEventListener("pointermove", (event) => point(event, event.buttons > 0));
    canvas.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") values.style.display = "none"; });
  }
  function tell(strip, time) {
    for (const other of strips) if (other !== strip && other.values) other.values.style.display = "none";
    const rows = strip.lines.map((each) => {
      const row = document.createElement("div"), name = document.createElement("b"), value = document.createElement("span");
      name.textContent = each.always ? each.name : `${each.label} ${each.name}`;
      name.style.color = `var(--series-${(hue(each) % 8) + 1})`;
      value.textContent = each.words(time);
      row.append(name, value);
      return row;
    });
    const head = document.createElement("div");
    head.textContent = `t = ${time.toFixed(DIGITS + 1)} s`;
    strip.values.replaceChildren(head, ...rows);
    strip.values.style.display = "block";
    const x = across(strip, time), wide = strip.values.offsetWidth;
    strip.values.style.left = `${Math.max(0, x + 12 + wide > strip.width ? x - 12 - wide : x + 12)}px`;
    strip.values.style.top = `${strip.canvas.offsetTop + 4}px`;
  }

  // ------------------------------------------------------------------------------------------ legend, player, gestures

  const entries = coordinates.map((each, i) => {
    const button = document.createElement("button"), mark = document.createElement("b"), name = document.createElement("strong"), small = document.createElement("small"), limit = document.createElement("em");
    button.type = "button";
    button.setAttribute("aria-pressed", "false");
    button.title = each.name;
    mark.textContent = i + 1;
    mark.style.setProperty("--mark", `var(--series-${(i % 8) + 1})`);
    name.textContent = each.name;
    button.append(mark, name, small, limit);
    const light = (place) => { if (hovered !== place) { hovered = place; drawStrips(); redraw(); } };
    button.addEventListener("click", () => {
      pinned = pinned === i ? null : i;
      entries.forEach((entry, k) => entry.button.setAttribute("aria-pressed", String(k === pinned)));
      hovered = null;
      drawStrips();
      redraw();
    });
    button.addEventListener("pointerenter", (event) => { if (event.pointerType === "mouse") light(i); });
    button.addEventListener("pointerleave", () => light(null));
    button.addEventListener("focus", () => { if (button.matches(":focus-visible")) light(i); });
    button.addEventListener("blur", () => light(null));
    byId("legend").append(button);
    return { button, small, limit };
  });

  function drawStrips() {
    const drawn = strips.filter((strip) => strip.canvas);
    drawn.forEach((strip, k) => drawStrip(strip, k === drawn.length - 1));
    drawTime();
  }
  function drawTime() {
    const values = Object.fromEntries(Object.keys(samples).map((what) => [what, state(what, now)])), full = fullAt(now);
    entries.forEach(({ button, small, limit }, i) => {
      small.textContent = ["q", ...(K > 1 ? ["qd"] : []), "tau"].filter((what) => values[what]).map((what) => `${shown(values[what][i])} ${coordinates[i].units[what]}`.replaceAll(" ", "\u00a0")).join("\u2002\n");
      button.classList.toggle("full", full[i].length > 0);
      limit.textContent = full[i].length ? `at ${full[i].join(", ")} limit` : "";
    });
    for (const strip of strips) if (strip.rule) strip.rule.style.left = `${across(strip, now)}px`;
    byId("scrubber").value = now;
    byId("scrubber").setAttribute("aria-valuetext", `${now.toFixed(DIGITS)} s`);
    byId("time").textContent = `${now.toFixed(DIGITS)} / ${t[last].toFixed(DIGITS)} s`;
  }
  let waiting = false;
  function redraw() { // once for each picture of the screen
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; aim(); drawArm(); drawTime(); });
  }
  function go(time) {
    now = Math.min(Math.max(time, t[0]), t[last]);
    redraw();
  }
  let before = 0;
  function tick(clock) {
    if (!playing) return;
    now = Math.min(now + (speed * (clock - before)) / 1000, t[last]);
    before = clock;
    if (now === t[last]) setPlaying(false);
    redraw();
    requestAnimationFrame(tick);
  }
  function setPlaying(on) {
    if (on && !playing) {
      if (now >= t[last]) now = t[0];
      requestAnimationFrame((clock) => { before = clock; tick(clock); });
    }
    playing = on;
    byId("play").textContent = on ? "❚❚" : "▶\ufe0e";
    byId("play").setAttribute("aria-label", on ? "Pause" : "Play");
  }
  byId("play").addEventListener("click", () => setPlaying(!playing));
  byId("scrubber").min = t[0];
  byId("scrubber").max = t[last];
  byId("scrubber").addEventListener("input", (event) => { setPlaying(false); go(Number(event.target.value)); });
  for (const button of document.querySelectorAll(".speeds button")) button.addEventListener("click", () => {
    speed = Number(button.dataset.speed);
    for (const other of document.querySelectorAll(".speeds button")) other.setAttribute("aria-pressed", String(other === button));
  });
  addEventListener("keydown", (event) => {
    if (K < 2 || event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === " " && !event.target.closest("button")) setPlaying(!playing);
    else if (steps) { setPlaying(false); go(now + (steps * (event.shiftKey ? 10 : 1) * (t[last] - t[0])) / 200); }
    else if (event.key === "Home" || event.key === "End") go(event.key === "Home" ? t[0] : t[last]);
    else return;
    event.preventDefault();
  });

  function turn(right, down) { // by pixels
    camera.azimuth -= 0.008 * right;
    camera.elevation = Math.min(Math.max(camera.elevation + 0.008 * down, -1.5), 1.5);
    redraw();
  }
  arm.addEventListener("keydown", (event) => {
    const [right, down] = { ArrowLeft: [-10, 0], ArrowRight: [10, 0], ArrowUp: [0, -10], ArrowDown: [0, 10] }[event.key] ?? [0, 0];
    const factor = { "+": 1.1, "-": 1 / 1.1 }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || !(right || down || factor)) return;
    if (factor) zoomBy(factor); else turn(right, down);
    event.preventDefault();
    event.stopPropagation(); // arrows elsewhere step
  });
  const fingers = new Map();
  const apart = () => { const [a, b] = [...fingers.values()]; return Math.hypot(a.x - b.x, a.y - b.y); };
  const zoomBy = (factor) => { camera.zoom = Math.min(Math.max(camera.zoom * factor, 0.3), 8); redraw(); };
  arm.addEventListener("pointerdown", (event) => { arm.setPointerCapture(event.pointerId); fingers.set(event.pointerId, { x: event.clientX, y: event.clientY }); });
  arm.addEventListener("pointermove", (event) => {
    const old = fingers.get(event.pointerId), fresh = { x: event.clientX, y: event.clientY };
    if (!old) return;
    const wide = fingers.size === 2 ? apart() : 0;
    fingers.set(event.pointerId, fresh);
    if (wide) { zoomBy(apart() / wide); return; }
    turn(fresh.x - old.x, fresh.y - old.y);
  });
  for (const end of ["pointerup", "pointercancel"]) arm.addEventListener(end, (event) => fingers.delete(event.pointerId));
  arm.addEventListener("wheel", (event) => { event.preventDefault(); zoomBy(Math.exp(-0.0015 * event.deltaY)); }, { passive: false });
  const reset = () => { Object.assign(camera, start); redraw(); };
  arm.addEventListener("dblclick", reset);
  byId("reset").addEventListener("click", reset);

  function layOut() {
    const pixels = devicePixelRatio || 1;
    readColours();
    [width, height] = [arm.clientWidth, arm.clientHeight];
    [arm.width, arm.height] = [Math.round(width * pixels), Math.round(height * pixels)];
    ctx.setTransform(pixels, 0, 0, pixels, 0, 0);
    drawStrips();
    redraw();
  }
  new ResizeObserver(layOut).observe(byId("strips"));
  new ResizeObserver(layOut).observe(arm);
  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", layOut);
  new MutationObserver(layOut).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  layOut();
  return { t, samples, energies: Object.fromEntries(energies.map(({ name, values }) => [name, values])), poses, camera, lit, go, get now() { return now; }, get playing() { return playing; } };
})();
