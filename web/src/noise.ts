// noise.ts - Gaussian noise from a seed, the numbers of examples/text2image/noise.c: splitmix64 and Box-Muller.

const MASK = (1n << 64n) - 1n;

/** To the nearest whole number, halves to the even one, as nearbyint does. */
export function roundEven(x: number): number {
  const low = Math.floor(x);
  const rest = x - low;
  if (rest !== 0.5) return Math.round(x);
  return low % 2 === 0 ? low : low + 1;
}

export function noise(seed: bigint, count: number): Float32Array {
  let state = seed & MASK;
  const next = (): bigint => {
    state = (state + 0x9e3779b97f4a7c15n) & MASK;
    let z = state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
    return z ^ (z >> 31n);
  };
  // In (0, 1], so that its logarithm is finite.
  const uniform = (): number => (Number(next() >> 11n) + 1) / 9007199254740992;
  // To a multiple of 2^-16: maths libraries differ in the last bits of log, sin and cos.
  const round = (value: number): number => roundEven(value * 65536) / 65536;
  const out = new Float32Array(count);
  for (let i = 0; i < count; i += 2) {
    const radius = Math.sqrt(-2 * Math.log(uniform()));
    const angle = 6.283185307179586 * uniform();
    out[i] = round(radius * Math.cos(angle));
    if (i + 1 < count) out[i + 1] = round(radius * Math.sin(angle));
  }
  return out;
}
