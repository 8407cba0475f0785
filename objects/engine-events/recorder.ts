import type { EventLog, Log, NewEvent, Store } from '@granary/kernel';
import type { EngineEvent } from '../engine/events.ts';

interface EventTools {
  readonly store: Store;
  readonly events: EventLog;
  readonly log: Log;
}

/** Records what happens in the engine. */
export function recordEngineEvents({ store, events, log }: EventTools): (event: EngineEvent) => void {
  return (event) => {
    const record = asEvent(event);
    store
      .write((tx) => events.record(tx, record))
      .catch((error: unknown) => log.error({ error, title: record.title }, 'an event could not be recorded'));
  };
}

function asEvent(event: EngineEvent): NewEvent {
  switch (event.kind) {
    case 'drive-absent': {
      const title = `Drive ${event.uuid} does not answer: ${event.reason}`;
      return { severity: 'error', title, subject: `drive:${event.uuid}` };
    }
    case 'drive-back': {
      const how = event.empty ? 'empty; its data is being rebuilt' : 'and is being brought up to date';
      return {
        severity: 'notice',
        title: `Drive ${event.uuid} is back ${how}.`,
        subject: `drive:${event.uuid}`,
      };
    }
    case 'drive-joined':
      return {
        severity: 'notice',
        title: `Drive ${event.uuid} joined storage policy ${event.policy}.`,
        subject: `drive:${event.uuid}`,
      };
    case 'drive-left':
      return {
        severity: 'notice',
        title: `Drive ${event.uuid} left storage policy ${event.policy}; nothing is on it.`,
        subject: `drive:${event.uuid}`,
      };
    case 'repaired':
      return {
        severity: 'notice',
        title: `Storage policy ${event.policy} is whole again; ${event.rebuilt} pieces were rebuilt.`,
        subject: `policy:${event.policy}`,
      };
    case 'unreadable':
      return {
        severity: 'error',
        title: `${event.objects} objects of storage policy ${event.policy} have lost too many pieces to be read.`,
        subject: `policy:${event.policy}`,
      };
    case 'controller-lost':
      return {
        severity: 'error',
        title: `Controller ${event.controller} was lost (${event.reason}); it is being started anew.`,
        subject: `controller:${event.controller}`,
      };
  }
}
