import { parentPort, workerData } from 'node:worker_threads';
import { ControllerSide } from './controller-side.ts';
import type { ThreadData, ToController } from './protocol.ts';
import { BEAT_MS, beat } from './vitals.ts';

/** The thread of a controller. Until it becomes active it loads nothing but this. */
const { vitals, ...data } = workerData as ThreadData;
const port = parentPort;
if (port === null) throw new Error('A controller runs in a thread of its own.');

beat(vitals);
setInterval(() => beat(vitals), BEAT_MS);
const side = new ControllerSide(data, (message, transfer) => port.postMessage(message, transfer));
port.on('message', (message: ToController) => side.take(message));
