// picture.ts - numbers to pixels.
import { roundEven } from './noise';
import { PREVIEW } from './preview';

/** [-1, 1] to a byte, rounded in float as examples/text2image/image.c does. */
function byteOf(value: number): number {
  const byte = roundEven(Math.fround(Math.fround(value + 1) * 127.5));
  return byte > 0 ? Math.min(byte, 255) : 0; // NaN is 0 too
}

/** [3, size, size] in [-1, 1] to pixels. */
export function toPixels(picture: Float32Array, size: number): ImageData {
  const image = new ImageData(size, size);
  const plane = size * size;
  for (let i = 0; i < plane; i++) {
    for (let c = 0; c < 3; c++) image.data[4 * i + c] = byteOf(picture[c * plane + i]);
    image.data[4 * i + 3] = 255;
  }
  return image;
}

/** Latents [4, h, w] to a rough picture without the decoder: each colour is a sum of the four channels. */
export function toPreview(latents: Float32Array, height: number, width: number): ImageData {
  const image = new ImageData(width, height);
  const plane = height * width;
  for (let i = 0; i < plane; i++) {
    for (let c = 0; c < 3; c++) {
      let value = PREVIEW[4][c];
      for (let k = 0; k < 4; k++) value += latents[k * plane + i] * PREVIEW[k][c];
      image.data[4 * i + c] = byteOf(value);
    }
    image.data[4 * i + 3] = 255;
  }
  return image;
}

/** Draws an image over the whole canvas, smoothly when it is smaller. */
export function draw(canvas: HTMLCanvasElement, image: ImageData, size: number): void {
  canvas.width = size;
  canvas.height = size;
  const context = canvas.getContext('2d', { willReadFrequently: true })!;
  if (image.width === size) {
    context.putImageData(image, 0, 0);
    return;
  }
  const small = document.createElement('canvas');
  small.width = image.width;
  small.height = image.height;
  small.getContext('2d')!.putImageData(image, 0, 0);
  context.imageSmoothingQuality = 'high';
  context.drawImage(small, 0, 0, size, size);
}
