// vite.config.js - the page, served with the headers that threads need.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

// A page has SharedArrayBuffer only when it is cross-origin isolated.
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

export default defineConfig({
  base: './',
  // Compiled models, ONNX files and their tables; `./dev web` puts them there.
  publicDir: at('../build/web/public'),
  resolve: { alias: { hologram: at('../bindings/js/lib/index.js') } },
  worker: { format: 'es' },
  build: {
    outDir: at('../build/web/page'), emptyOutDir: true, target: 'es2022',
    rollupOptions: { input: [at('index.html'), at('bench.html')] },
  },
  server: { host: '127.0.0.1', port: 5173, headers, fs: { allow: [at('..')] } },
});
