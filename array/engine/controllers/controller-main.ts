import { pulseWriter } from '@granary/kernel/pulse';
import { releaseMemory } from '@granary/kernel/resources';
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { ControllerSide } from './controller-side.ts';
import type { ThreadData, ToController } from './protocol.ts';
import { BEAT_MS, beat } from './vitals.ts';

/** The thread of a controller. Until it becomes active it loads nothing but this. */
function run(port: MessagePort, { vitals, ...data }: ThreadData): void {
  beat(vitals);
  const side = new ControllerSide(data, (messages, transfer) => port.postMessage(messages, transfer));
  const pulse = pulseWriter();
  setInterval(() => {
    beat(vitals);
    if (side.isServing) pulse();
  }, BEAT_MS);
  port.on('message', (messages: readonly ToController[]) => messages.forEach((message) => side.accept(message)));
  releaseMemory();
}

// Without a port the module was only loaded to be compiled.
if (parentPort !== null) run(parentPort, workerData as ThreadData);
