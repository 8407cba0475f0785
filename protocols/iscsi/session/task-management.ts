import type { Attachment } from '../scsi/nexus.ts';
import { decodeLun } from '../scsi/unit-control.ts';
import type { Executor } from './executor.ts';

const Function = {
  abortTask: 1,
  abortTaskSet: 2,
  clearAca: 3,
  clearTaskSet: 4,
  unitReset: 5,
  targetWarmReset: 6,
  targetColdReset: 7,
  taskReassign: 8,
} as const;

const ManagementResponse = {
  complete: 0,
  noSuchTask: 1,
  noSuchUnit: 2,
  reassignNotSupported: 4,
  notSupported: 5,
} as const;

export interface ManagedSession {
  readonly executor: Executor;
  attachmentAt(lun: number): Attachment | undefined;
  /** Every unit of the target starts afresh. */
  resetTarget(): Promise<void>;
}

/** Carries out a task management function; resolves to the response when everything it ends has ended. */
export async function manageTasks(header: Buffer, session: ManagedSession): Promise<number> {
  const wanted = (header[1] ?? 0) & 0x7f;
  switch (wanted) {
    case Function.abortTask:
      return abortTask(header.readUInt32BE(20), session.executor);
    case Function.targetWarmReset:
    case Function.targetColdReset:
      await session.resetTarget();
      return ManagementResponse.complete;
    case Function.taskReassign:
      return ManagementResponse.reassignNotSupported;
    case Function.abortTaskSet:
    case Function.clearTaskSet:
    case Function.unitReset: {
      const attachment = session.attachmentAt(decodeLun(header, 8));
      if (attachment === undefined) return ManagementResponse.noSuchUnit;
      await manageUnit(wanted, attachment, session.executor);
      return ManagementResponse.complete;
    }
    default:
      return ManagementResponse.notSupported;
  }
}

export function isColdReset(header: Buffer): boolean {
  return ((header[1] ?? 0) & 0x7f) === Function.targetColdReset;
}

async function abortTask(tag: number, executor: Executor): Promise<number> {
  const task = executor.find(tag);
  if (task === undefined) return ManagementResponse.noSuchTask;
  await executor.abort(task, 'unanswered');
  return ManagementResponse.complete;
}

async function manageUnit(wanted: number, attachment: Attachment, executor: Executor): Promise<void> {
  const { unit } = attachment;
  if (wanted === Function.abortTaskSet) {
    await executor.abortAll(unit, 'unanswered');
    return;
  }
  if (wanted === Function.unitReset) {
    await unit.reset(attachment);
    return;
  }
  const others = [...unit.attachments].map(({ nexus }) => nexus.abortTasks(unit, nexus !== attachment.nexus));
  await Promise.all(others);
}
