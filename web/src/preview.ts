// preview.ts - how red, green and blue follow from the four latent channels, and the constant: a least-squares fit to
// decoded pictures (test/fit.mjs).
export const PREVIEW: readonly (readonly [number, number, number])[] = [
  [0.042, 0.143, 0.186],
  [-0.007, -0.287, -0.003],
  [-0.023, -0.235, -0.462],
  [-0.085, -0.034, 0.234],
  [0.906, 0.465, 0.332],
];
