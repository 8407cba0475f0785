import { InitiatorProtocolError } from './errors.ts';
import type { SessionParameters } from './parameters.ts';
import type { Sender } from './sender.ts';
import type { InitiatorTask } from './task.ts';
import { fields, FINAL, get32, IMMEDIATE, NO_TAG, opcodes, put32, putLun } from './wire.ts';

const READ = 0x40;
const WRITE = 0x20;

/** The command, what data may go with it, and what data may follow without being asked for. */
export function sendCommand(
  sender: Sender,
  task: InitiatorTask,
  parameters: SessionParameters,
  commandSn: number,
  statusSn: number,
): void {
  const { dataOut } = task;
  const unsolicited = Math.min(dataOut.length, parameters.firstBurstBytesMax);
  const immediate = parameters.immediateData ? Math.min(unsolicited, parameters.sendBytesMax) : 0;
  const follows = !parameters.initialR2T && unsolicited > immediate;
  const { header } = sender;
  header.fill(0, 2, 8);
  header[0] = opcodes.scsiCommand | (task.immediate ? IMMEDIATE : 0);
  header[1] = (follows ? 0 : FINAL) | (task.isRead ? READ : 0) | (task.isWrite ? WRITE : 0) | task.attribute;
  putLun(header, fields.lun, task.lun);
  put32(header, fields.taskTag, task.tag);
  put32(header, fields.expectedLength, task.expected);
  put32(header, fields.commandSn, commandSn);
  put32(header, fields.expectedStatusSn, statusSn);
  task.cdb.copy(header, fields.cdb);
  sender.send(dataOut, 0, immediate);
  task.solicitedAt = immediate;
  if (!follows) return;
  sendData(sender, task, parameters, NO_TAG, immediate, unsolicited, statusSn);
  task.solicitedAt = unsolicited;
}

/** Checks what the target asks for and sends it. */
export function answerReadyToTransfer(
  sender: Sender,
  task: InitiatorTask,
  parameters: SessionParameters,
  header: Buffer,
  statusSn: number,
): void {
  const transferTag = get32(header, fields.transferTag);
  const from = get32(header, fields.bufferOffset);
  const length = get32(header, fields.desiredLength);
  const sequence = get32(header, fields.dataSn);
  if (sequence !== task.readyToTransfers) {
    throw new InitiatorProtocolError(`R2TSN ${sequence} where ${task.readyToTransfers} was due`);
  }
  if (transferTag === NO_TAG) throw new InitiatorProtocolError('An R2T without a target transfer tag');
  if (length === 0 || length > parameters.burstBytesMax) {
    throw new InitiatorProtocolError(`An R2T for ${length} bytes; a burst is at most ${parameters.burstBytesMax}`);
  }
  if (from + length > task.dataOut.length) {
    throw new InitiatorProtocolError(`An R2T for bytes ${from} to ${from + length} of ${task.dataOut.length}`);
  }
  if (parameters.dataInOrder && from !== task.solicitedAt) {
    throw new InitiatorProtocolError(`An R2T from byte ${from} where ${task.solicitedAt} was due`);
  }
  task.readyToTransfers += 1;
  task.solicitedAt = from + length;
  sendData(sender, task, parameters, transferTag, from, from + length, statusSn);
}

function sendData(
  sender: Sender,
  task: InitiatorTask,
  parameters: SessionParameters,
  transferTag: number,
  from: number,
  to: number,
  statusSn: number,
): void {
  const { header } = sender;
  let dataSn = 0;
  for (let at = from; at < to; at += parameters.sendBytesMax, dataSn += 1) {
    const end = Math.min(at + parameters.sendBytesMax, to);
    header.fill(0);
    header[0] = opcodes.dataOut;
    header[1] = end === to ? FINAL : 0;
    putLun(header, fields.lun, task.lun);
    put32(header, fields.taskTag, task.tag);
    put32(header, fields.transferTag, transferTag);
    put32(header, fields.expectedStatusSn, statusSn);
    put32(header, fields.dataSn, dataSn);
    put32(header, fields.bufferOffset, at);
    sender.send(task.dataOut, at, end);
  }
}

/** Checks a Data-In PDU before its bytes are put where they belong. */
export function checkDataIn(task: InitiatorTask, parameters: SessionParameters, header: Buffer, length: number): void {
  const offset = get32(header, fields.bufferOffset);
  const sequence = get32(header, fields.dataSn);
  if (!task.isRead) throw new InitiatorProtocolError('Data-In for a command that reads nothing');
  if (sequence !== task.dataPdus) throw new InitiatorProtocolError(`DataSN ${sequence} where ${task.dataPdus} was due`);
  if (offset + length > task.into.length) {
    throw new InitiatorProtocolError(`Data-In for bytes ${offset} to ${offset + length} of ${task.into.length}`);
  }
  if (parameters.dataInOrder && offset !== task.received) {
    throw new InitiatorProtocolError(`Data-In from byte ${offset} where ${task.received} was due`);
  }
  task.burst += length;
  if (task.burst > parameters.burstBytesMax && !parameters.toleratesLongBursts) {
    throw new InitiatorProtocolError(
      `A burst of ${task.burst} bytes; at most ${parameters.burstBytesMax} were agreed on`,
    );
  }
}
