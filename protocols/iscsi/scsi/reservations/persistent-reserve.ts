import type { Operation, ScsiCommand } from '../command.ts';
import type { Effects, Refusal } from './persistent-reservations.ts';
import type { Registration } from './reservation-store.ts';
import {
  GOOD,
  INVALID_FIELD_IN_CDB,
  INVALID_FIELD_IN_PARAMETERS,
  RESERVATION_CONFLICT,
  failed,
  repliedUpTo,
  type Outcome,
} from '../outcome.ts';
import { Sense } from '../sense.ts';

const PARAMETER_BYTES = 24;
const SURVIVES_POWER_LOSS = 0x01;
const SPECIFY_INITIATOR_PORTS = 0x08;

const REFUSALS: Readonly<Record<Refusal, Outcome>> = {
  conflict: RESERVATION_CONFLICT,
  'invalid-release': failed(Sense.invalidRelease),
  'invalid-parameters': INVALID_FIELD_IN_PARAMETERS,
  'invalid-cdb': INVALID_FIELD_IN_CDB,
  'no-resources': failed(Sense.insufficientRegistrationResources),
};

interface OutParameters {
  readonly key: string;
  readonly actionKey: string;
  readonly survives: boolean;
  readonly type: number;
}

type OutAction = (command: ScsiCommand, parameters: OutParameters) => Effects | Refusal;

function registrationOf({ nexus }: ScsiCommand, key: string): Registration {
  return { initiatorName: nexus.initiatorName, isid: nexus.isid, targetName: nexus.targetName, key };
}

const preempt: OutAction = ({ unit, attachment }, { key, actionKey, type }) =>
  unit.reservations.preempt(attachment.key, key, actionKey, type);

const PREEMPT_AND_ABORT = 0x05;

const OUT_ACTIONS = new Map<number, OutAction>([
  [
    0x00,
    (command, { key, actionKey, survives }) =>
      command.unit.reservations.register(registrationOf(command, actionKey), key, survives),
  ],
  [0x01, ({ unit, attachment }, { key, type }) => unit.reservations.reserve(attachment.key, key, type)],
  [0x02, ({ unit, attachment }, { key, type }) => unit.reservations.release(attachment.key, key, type)],
  [0x03, ({ unit, attachment }, { key }) => unit.reservations.clear(attachment.key, key)],
  [0x04, preempt],
  [PREEMPT_AND_ABORT, preempt],
  [
    0x06,
    (command, { actionKey, survives }) =>
      command.unit.reservations.register(registrationOf(command, actionKey), undefined, survives),
  ],
]);

async function reserveOut(command: ScsiCommand, action: number): Promise<Outcome> {
  const { cdb, data, unit } = command;
  if (data.length !== PARAMETER_BYTES) return failed(Sense.parameterListLength);
  const scope = (cdb[2] ?? 0) >> 4;
  if (scope !== 0) return INVALID_FIELD_IN_CDB;
  if (((data[20] ?? 0) & SPECIFY_INITIATOR_PORTS) !== 0) return INVALID_FIELD_IN_PARAMETERS;
  const result = OUT_ACTIONS.get(action)?.(command, {
    key: data.toString('hex', 0, 8),
    actionKey: data.toString('hex', 8, 16),
    survives: ((data[20] ?? 0) & SURVIVES_POWER_LOSS) !== 0,
    type: (cdb[2] ?? 0) & 0x0f,
  });
  if (result === undefined) return INVALID_FIELD_IN_CDB;
  if (typeof result === 'string') return REFUSALS[result];
  await applyEffects(command, result, action === PREEMPT_AND_ABORT);
  await unit.reservations.save();
  return GOOD;
}

async function applyEffects({ unit }: ScsiCommand, effects: Effects, abort: boolean): Promise<void> {
  const ends: Promise<void>[] = [];
  for (const attachment of unit.attachments) {
    for (const [nexus, attention] of effects.attentions) if (nexus === attachment.key) attachment.raise(attention);
    if (abort && effects.removed.includes(attachment.key)) ends.push(attachment.nexus.abortTasks(unit, true));
  }
  await Promise.all(ends);
}

function withHeader({ unit }: ScsiCommand, body: Buffer): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt32BE(unit.reservations.generation >>> 0, 0);
  header.writeUInt32BE(body.length, 4);
  return Buffer.concat([header, body]);
}

function readKeys(command: ScsiCommand): Buffer {
  const keys = [...command.unit.reservations.registrations()].map(([, { key }]) => Buffer.from(key, 'hex'));
  return withHeader(command, Buffer.concat(keys));
}

function readReservation(command: ScsiCommand): Buffer {
  const { reservations } = command.unit;
  if (reservations.reservation === undefined) return withHeader(command, Buffer.alloc(0));
  const body = Buffer.alloc(16);
  body.write(reservations.holderKey(), 0, 'hex');
  body[13] = reservations.reservation.type;
  return withHeader(command, body);
}

/** All six types; state can survive a loss of power; RESERVE and RELEASE of registrants do no harm. */
function reportCapabilities({ unit }: ScsiCommand): Buffer {
  return Buffer.of(0, 8, 0x11, unit.reservations.survivesPowerLoss ? 0x81 : 0x80, 0xea, 0x01, 0, 0);
}

function readFullStatus(command: ScsiCommand): Buffer {
  const { reservations } = command.unit;
  const descriptors = [...reservations.registrations()].map(([nexus, registration]) => {
    const holds = reservations.isHolder(nexus);
    const transport = transportId(registration);
    const head = Buffer.alloc(24);
    head.write(registration.key, 0, 'hex');
    head[12] = holds ? 1 : 0;
    head[13] = holds ? (reservations.reservation?.type ?? 0) : 0;
    head.writeUInt16BE(1, 18);
    head.writeUInt32BE(transport.length, 20);
    return Buffer.concat([head, transport]);
  });
  return withHeader(command, Buffer.concat(descriptors));
}

const TRANSPORT_NAME_BYTES_MIN = 20;

/** The initiator port by its iSCSI name and session identifier. */
function transportId({ initiatorName, isid }: Registration): Buffer {
  const name = Buffer.from(`${initiatorName},i,0x${isid}\0`, 'utf8');
  const room = Math.max(TRANSPORT_NAME_BYTES_MIN, Math.ceil(name.length / 4) * 4);
  const transport = Buffer.alloc(4 + room);
  transport[0] = 0x45;
  transport.writeUInt16BE(room, 2);
  name.copy(transport, 4);
  return transport;
}

const IN_ACTIONS: readonly ((command: ScsiCommand) => Buffer)[] = [
  readKeys,
  readReservation,
  reportCapabilities,
  readFullStatus,
];

function inOperation(action: number, read: (command: ScsiCommand) => Buffer): Operation {
  return {
    opcode: 0x5e,
    serviceAction: action,
    usage: `5e ${action.toString(16).padStart(2, '0')} 00 00 00 00 00 ff ff 00`,
    sharing: 'free',
    run: (command) => repliedUpTo(read(command), command.cdb.readUInt16BE(7)),
  };
}

function outOperation(action: number): Operation {
  return {
    opcode: 0x5f,
    serviceAction: action,
    usage: `5f ${action.toString(16).padStart(2, '0')} ff 00 00 ff ff ff ff 00`,
    sharing: 'free',
    dataOutBytes: (cdb) => cdb.readUInt32BE(5),
    run: (command) => reserveOut(command, action),
  };
}

export const PERSISTENT_RESERVE: Operation[] = [
  ...IN_ACTIONS.map((read, action) => inOperation(action, read)),
  ...[...OUT_ACTIONS.keys()].map((action) => outOperation(action)),
];
