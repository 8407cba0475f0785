import { Op } from '../opcodes.ts';
import { Nfs4Error, Status4 } from '../status.ts';
import { access, getAttributes, setAttributes, verify, verifyNot } from './attributes.ts';
import { renew, setClientId, setClientIdConfirm } from './client-id.ts';
import { close, openConfirm, openDowngrade } from './close.ts';
import { commit, read, readLink, write } from './data.ts';
import { readDirectory } from './directory.ts';
import { destroyClientId, exchangeId, reclaimComplete } from './exchange-id.ts';
import {
  getFileHandle,
  lookup,
  lookupParent,
  putFileHandle,
  putRootFileHandle,
  restoreFileHandle,
  saveFileHandle,
  securityInfo,
  securityInfoNoName,
} from './handles.ts';
import { lock, lockTest, releaseLockOwner, unlock } from './lock.ts';
import { create, link, remove, rename } from './names.ts';
import { open } from './open.ts';
import type { Operation } from './operation.ts';
import { backChannelControl, bindConnection, createSession, destroySession, sequence } from './session.ts';
import { freeStateId, testStateId } from './state-ids.ts';

const notSupported: Operation = () => {
  throw new Nfs4Error(Status4.notSupported);
};

/** Delegations are never given out, so whatever is returned was none. */
const delegReturn: Operation = () => {
  throw new Nfs4Error(Status4.badStateId);
};

interface Entry {
  readonly run: Operation;
  /** Of the minor versions that have it. */
  readonly minor: readonly number[];
  /** Doing it a second time would do harm. */
  readonly changes?: boolean;
}

const BOTH = [0, 1];
const ONLY_40 = [0];
const ONLY_41 = [1];

export const OPERATIONS = new Map<number, Entry>([
  [Op.access, { run: access, minor: BOTH }],
  [Op.close, { run: close, minor: BOTH, changes: true }],
  [Op.commit, { run: commit, minor: BOTH }],
  [Op.create, { run: create, minor: BOTH, changes: true }],
  [Op.delegPurge, { run: notSupported, minor: BOTH }],
  [Op.delegReturn, { run: delegReturn, minor: BOTH }],
  [Op.getAttributes, { run: getAttributes, minor: BOTH }],
  [Op.getFileHandle, { run: getFileHandle, minor: BOTH }],
  [Op.link, { run: link, minor: BOTH, changes: true }],
  [Op.lock, { run: lock, minor: BOTH, changes: true }],
  [Op.lockTest, { run: lockTest, minor: BOTH }],
  [Op.unlock, { run: unlock, minor: BOTH, changes: true }],
  [Op.lookup, { run: lookup, minor: BOTH }],
  [Op.lookupParent, { run: lookupParent, minor: BOTH }],
  [Op.verifyNot, { run: verifyNot, minor: BOTH }],
  [Op.open, { run: open, minor: BOTH, changes: true }],
  [Op.openAttributes, { run: notSupported, minor: BOTH }],
  [Op.openConfirm, { run: openConfirm, minor: BOTH, changes: true }],
  [Op.openDowngrade, { run: openDowngrade, minor: BOTH, changes: true }],
  [Op.putFileHandle, { run: putFileHandle, minor: BOTH }],
  [Op.putPublicFileHandle, { run: putRootFileHandle, minor: BOTH }],
  [Op.putRootFileHandle, { run: putRootFileHandle, minor: BOTH }],
  [Op.read, { run: read, minor: BOTH }],
  [Op.readDirectory, { run: readDirectory, minor: BOTH }],
  [Op.readLink, { run: readLink, minor: BOTH }],
  [Op.remove, { run: remove, minor: BOTH, changes: true }],
  [Op.rename, { run: rename, minor: BOTH, changes: true }],
  [Op.renew, { run: renew, minor: ONLY_40 }],
  [Op.restoreFileHandle, { run: restoreFileHandle, minor: BOTH }],
  [Op.saveFileHandle, { run: saveFileHandle, minor: BOTH }],
  [Op.securityInfo, { run: securityInfo, minor: BOTH }],
  [Op.setAttributes, { run: setAttributes, minor: BOTH, changes: true }],
  [Op.setClientId, { run: setClientId, minor: ONLY_40, changes: true }],
  [Op.setClientIdConfirm, { run: setClientIdConfirm, minor: ONLY_40, changes: true }],
  [Op.verify, { run: verify, minor: BOTH }],
  [Op.write, { run: write, minor: BOTH }],
  [Op.releaseLockOwner, { run: releaseLockOwner, minor: ONLY_40, changes: true }],
  [Op.backChannelControl, { run: backChannelControl, minor: ONLY_41 }],
  [Op.bindConnection, { run: bindConnection, minor: ONLY_41 }],
  [Op.exchangeId, { run: exchangeId, minor: ONLY_41 }],
  [Op.createSession, { run: createSession, minor: ONLY_41 }],
  [Op.destroySession, { run: destroySession, minor: ONLY_41 }],
  [Op.freeStateId, { run: freeStateId, minor: ONLY_41 }],
  [Op.getDirectoryDelegation, { run: notSupported, minor: ONLY_41 }],
  [Op.getDeviceInfo, { run: notSupported, minor: ONLY_41 }],
  [Op.getDeviceList, { run: notSupported, minor: ONLY_41 }],
  [Op.layoutCommit, { run: notSupported, minor: ONLY_41 }],
  [Op.layoutGet, { run: notSupported, minor: ONLY_41 }],
  [Op.layoutReturn, { run: notSupported, minor: ONLY_41 }],
  [Op.securityInfoNoName, { run: securityInfoNoName, minor: ONLY_41 }],
  [Op.sequence, { run: sequence, minor: ONLY_41 }],
  [Op.setSsv, { run: notSupported, minor: ONLY_41 }],
  [Op.testStateId, { run: testStateId, minor: ONLY_41 }],
  [Op.wantDelegation, { run: notSupported, minor: ONLY_41 }],
  [Op.destroyClientId, { run: destroyClientId, minor: ONLY_41 }],
  [Op.reclaimComplete, { run: reclaimComplete, minor: ONLY_41 }],
]);

/** 4.1 has these operations of 4.0 no more, but they are no riddle either. */
export function isRetired(operation: number): boolean {
  return OPERATIONS.get(operation)?.minor === ONLY_40;
}
