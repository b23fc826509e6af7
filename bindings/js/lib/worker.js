// worker.js - a worker that holds a model: makes the calls of remote.js, one after the other.
import { LocalHost } from './local.js';
import { parent } from './platform.js';

async function serve() {
  const port = await parent();
  const host = new LocalHost();
  const begun = new Map();
  let last = Promise.resolve();
  let stoppedCall = null;
  const calls = {
    begin: async (size) => {
      const id = begun.size + 1;
      begun.set(id, { size, list: [] });
      return id;
    },
    more: async (id, chunk) => void begun.get(id).list.push(chunk),
  };
  const answer = async ({ id, name, args, events, stopped }) => {
    stoppedCall = stopped ?? stoppedCall;
    const on = Object.fromEntries(events.map((event) => [event, (value) => port.post({ id, event, value })]));
    on.isStopped = () => stoppedCall !== null && Atomics.load(stoppedCall, 0) === id;
    try {
      if (args[0]?.begun !== undefined) args[0] = new Blob(begun.get(args[0].begun).list);
      const value = await (calls[name] ?? ((...list) => host[name](...list)))(...args, on);
      port.post({ id, value }, transferable(value));
    } catch (error) {
      port.post({ id, error: { message: error.message, code: error.code ?? 'E_BUG' } });
    }
  };
  port.on((message) => (last = last.then(() => answer(message))));
}

/** The buffers of results: given away, not copied. */
function transferable(value) {
  if (value?.bytes instanceof Uint8Array) return [value.bytes.buffer];
  const list = [];
  for (const item of Object.values(value ?? {})) if (ArrayBuffer.isView(item?.data)) list.push(item.data.buffer);
  return list;
}

await serve();
