// thread.js - one more thread of a model: an instance on the same memory that waits for work until it is terminated.
import { importsOf } from './engine.js';
import { parent } from './platform.js';

const port = await parent();
port.on(async ({ module, memory, pool, index, stack }) => {
  const { exports } = await WebAssembly.instantiate(module, importsOf(memory));
  exports.__stack_pointer.value = stack;
  exports.js_serve(pool, index);
});
