// preview.ts - how red, green and blue follow from the four latent channels, and the constant: a least-squares fit to
// decoded pictures (test/fit.mjs).
export const PREVIEW: readonly (readonly [number, number, number])[] = [
  [0.269, 0.114, 0.286],
  [0.099, -0.280, 0.069],
  [-0.075, -0.214, -0.450],
  [-0.370, -0.057, 0.113],
  [0.533, 0.493, 0.259],
];
