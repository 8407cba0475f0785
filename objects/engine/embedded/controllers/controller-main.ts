import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { Line } from '@granary/kernel/threads';
import { ObjectController } from './controller.ts';
import type { ControllerCalls, MainCalls, ThreadData } from './protocol.ts';
import { revive } from './revive.ts';

/** The thread of a virtual controller. */
function run(port: MessagePort, data: ThreadData): void {
  // What is asked arrives after this turn, when the controller stands.
  const answers = {} as ObjectController['answers'];
  const line = new Line<ControllerCalls, MainCalls>(port, { answers, revive });
  Object.assign(answers, new ObjectController(line, data).answers);
}

// Without a port it was only loaded to be compiled.
if (parentPort !== null) run(parentPort, workerData as ThreadData);
