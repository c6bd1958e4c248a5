"use strict";
// What was recorded. Arrays are packed one behind the other; page.py says how.

const META = JSON.parse(document.getElementById("meta").textContent);
const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array, f4: Float32Array };

async function unpack(text) {
  if (typeof DecompressionStream === "undefined")
    throw new Error("this browser is too old: it must know DecompressionStream (Chrome 80, Firefox 113, Safari 16.4)");
  const letters = atob(text.trim());
  const raw = new Uint8Array(letters.length);
  for (let i = 0; i < raw.length; i++) raw[i] = letters.charCodeAt(i);
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

// The wiring: links by number, and which of them belong together.
class System {
  constructor(meta, array) {
    Object.assign(this, meta.system);
    this.frames = meta.frames;
    for (const name of ["router", "port", "peer", "peerPort"]) this[name] = array(meta.links[name]);
    this.numLinks = this.router.length;
    this.globalClass = this.classes.length - 1;
    this.linkAt = new Int32Array(this.routers * this.radix).fill(-1);
    this.linkClass = new Uint8Array(this.numLinks);
    this.remote = [];             // links between groups
    this.inside = [];             // pairs of opposite links between routers of a group
    this.pairs = new Map();       // from * groups + to -> links
    this.arriving = Array.from({ length: this.routers }, () => []);
    for (let link = 0; link < this.numLinks; link++) {
      this.linkAt[this.router[link] * this.radix + this.port[link]] = link;
      this.linkClass[link] = this.portClass[this.port[link]];
      if (this.peer[link] >= 0) this.arriving[this.peer[link]].push(link);
    }
    for (let link = 0; link < this.numLinks; link++) {
      const kind = this.linkClass[link];
      if (kind === 0) continue;
      const from = this.groupOf(this.router[link]), to = this.groupOf(this.peer[link]);
      if (from !== to) {
        this.remote.push(link);
        const key = from * this.groups + to;
        if (!this.pairs.has(key)) this.pairs.set(key, []);
        this.pairs.get(key).push(link);
      } else if (this.router[link] < this.peer[link]) {
        this.inside.push([link, this.opposite(link)]);
      }
    }
  }
  groupOf(router) { return this.groupOfRouters[router]; }
  // The place of a router, the routers of a group, or the hosts of a router, in words.
  placeOf(router) {
    const place = this.placeOfRouters[router], leaves = this.leaves;
    if (!leaves) return `place ${place} of ${this.a}`;
    return place < leaves ? `leaf ${place} of ${leaves}` : `spine ${place - leaves} of ${this.a - leaves}`;
  }
  routersOf(group) { return `Routers ${this.groupOfRouters.indexOf(group)} to ${this.groupOfRouters.lastIndexOf(group)}`; }
  hostsOf(router) {
    const first = this.firstHosts[router], many = this.hostsOfRouters[router];
    return many ? `hosts ${first} to ${first + many - 1}` : "no hosts";
  }
  opposite(link) { return this.linkAt[this.peer[link] * this.radix + this.peerPort[link]]; }
  linksOf(router) {
    const all = [];
    for (let port = 0; port < this.radix; port++) {
      const link = this.linkAt[router * this.radix + port];
      if (link >= 0) all.push(link);
    }
    return all;
  }
  between(from, to) { return this.pairs.get(from * this.groups + to) || []; }
  // The simulated time at which a frame begins, in us.
  beginUs(frame) { return (this.frames.startNs + frame * this.frames.ns) / 1000; }
}

// One run: figures by frame and link, frame and router, frame and pair of groups.
class Recording {
  constructor(system, meta, array) {
    this.system = system;
    this.label = meta.label;
    this.meta = meta;
    this.figures = meta.figures;
    for (const name of ["busyNs", "packets", "stall", "queued", "occupancy", "delivered", "latency"]) this[name] = array(meta[name]);
    this.waitingMost = this._mostWaiting();
  }
  utilisation(frame, link) {
    const s = this.system;
    return Math.min(1, this.packets[frame * s.numLinks + link] * this.busyNs[link] / s.frames.ns);
  }
  stalled(frame, link) { return this.stall[frame * this.system.numLinks + link] / 255; }
  value(measure, frame, link) { return measure === "stall" ? this.stalled(frame, link) : this.utilisation(frame, link); }
  queuedAt(frame, link) { return this.queued[frame * this.system.numLinks + link]; }
  occupancyAt(frame, link) { return this.occupancy[frame * this.system.numLinks + link]; }
  // Packets before the links of a router: in their queues, or in the room behind them.
  waiting(frame) {
    const s = this.system, sums = new Float64Array(s.routers), first = frame * s.numLinks;
    for (let link = 0; link < s.numLinks; link++) sums[s.router[link]] += this.occupancy[first + link];
    return sums;
  }
  waitingAt(frame, router) {
    return this.system.linksOf(router).reduce((sum, link) => sum + this.occupancyAt(frame, link), 0);
  }
  _mostWaiting() {
    let most = 1;
    for (let frame = 0; frame < this.system.frames.count; frame++) for (const sum of this.waiting(frame)) if (sum > most) most = sum;
    return most;
  }
  // Of packets between the hosts of two groups, on any path.
  deliveredBetween(frame, from, to) {
    const g = this.system.groups;
    return this.delivered[(frame * g + from) * g + to];
  }
  latencyBetween(frame, from, to) {
    const g = this.system.groups, ns = this.latency[(frame * g + from) * g + to];
    return ns < 0 ? null : ns;
  }
  // Packets as a fraction of what all hosts of a group can send.
  load(packets) {
    return packets * this.meta.packetNs / (this.system.hostsPerGroup * this.system.frames.ns);
  }
  overTime(figure) { return Array.from({ length: this.system.frames.count }, (_, frame) => figure(frame)); }
}

async function load() {
  const buffer = await unpack(document.getElementById("data").textContent);
  const array = ({ type, offset, length }) => new TYPES[type](buffer, offset, length);
  const system = new System(META, array);
  return { version: META.version, system, runs: META.runs.map((run) => new Recording(system, run, array)) };
}
