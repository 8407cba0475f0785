import type { EventLog, HostedConfiguration, Log, NewEvent, Store } from '@granary/kernel';
import type { KeeperEvent } from '@granary/storage/objects';
import type { ControllerSpec } from '../controllers/controller-spec.ts';

interface EventTools {
  readonly store: Store;
  readonly events: EventLog;
  readonly log: Log;
  readonly configuration: () => HostedConfiguration;
}

/** What happens below the management, as the event log tells it. */
export function keeperEvents({ store, events, log, configuration }: EventTools) {
  const record = (event: NewEvent) => {
    store
      .write((tx) => events.record(tx, event))
      .catch((error: unknown) => log.error({ error, title: event.title }, 'an event could not be recorded'));
  };
  const driveOf = (uuid: string) => configuration().drives.find((drive) => drive.uuid === uuid)?.uuid ?? uuid;
  return {
    keeper: (event: KeeperEvent) => record(asEvent(event, driveOf)),
    controllerLost: ({ name }: ControllerSpec, reason: string) =>
      record({
        severity: 'error',
        title: `Controller ${name} was lost (${reason}); it is being started anew.`,
        subject: `controller:${name}`,
      }),
  };
}

function asEvent(event: KeeperEvent, driveOf: (uuid: string) => string): NewEvent {
  switch (event.kind) {
    case 'drive-absent': {
      const title = `Drive ${driveOf(event.uuid)} does not answer: ${event.reason}`;
      return { severity: 'error', title, subject: `drive:${event.uuid}` };
    }
    case 'drive-back': {
      const how = event.empty ? 'empty; its data is being rebuilt' : 'and is being brought up to date';
      return {
        severity: 'notice',
        title: `Drive ${driveOf(event.uuid)} is back ${how}.`,
        subject: `drive:${event.uuid}`,
      };
    }
    case 'drive-joined':
      return {
        severity: 'notice',
        title: `Drive ${driveOf(event.uuid)} joined storage policy ${event.policy}.`,
        subject: `drive:${event.uuid}`,
      };
    case 'drive-left':
      return {
        severity: 'notice',
        title: `Drive ${driveOf(event.uuid)} left storage policy ${event.policy}; nothing is on it.`,
        subject: `drive:${event.uuid}`,
      };
    case 'mended':
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
  }
}
