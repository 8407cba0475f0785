import { EventEmitter } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { ControllerSide } from '../controller-side.ts';
import type { StartThread, ThreadHandle } from '../controller-thread.ts';
import type { ToController } from '../protocol.ts';
import { BEAT_MS, beat } from '../vitals.ts';

/**
 * Runs a controller in the thread of the test. Messages pass through a channel and are copied as between threads; but no
 * thread loads the engine again, which takes most of the time of starting an array. What kills a controller needs a real
 * thread: this one closes in order.
 */
export const startInline: StartThread = ({ vitals, ...data }) => {
  const { port1, port2 } = new MessageChannel();
  const handle = new EventEmitter();
  const side = new ControllerSide(data, (messages, transfer) => port2.postMessage(messages, transfer));
  beat(vitals);
  const beating = setInterval(() => beat(vitals), BEAT_MS).unref();
  port1.on('message', (messages) => handle.emit('message', messages));
  port2.on('message', (messages: readonly ToController[]) => messages.forEach((message) => side.accept(message)));
  port1.unref();
  port2.unref();
  return Object.assign(handle, {
    postMessage: (messages: unknown) => port1.postMessage(messages),
    ref: () => port1.ref(),
    unref: () => port1.unref(),
    terminate: async () => {
      clearInterval(beating);
      await side.retire();
      port1.close();
      handle.emit('exit', 0);
      return 0;
    },
  }) as unknown as ThreadHandle;
};
