/** Where things stand in the 48 bytes of an iSCSI header (RFC 7143, chapter 11), as an initiator sees them. */
export const HEADER_BYTES = 48;
export const NO_TAG = 0xffffffff;
export const IMMEDIATE = 0x40;
export const FINAL = 0x80;

export const opcodes = {
  nopOut: 0x00,
  scsiCommand: 0x01,
  taskManagement: 0x02,
  login: 0x03,
  text: 0x04,
  dataOut: 0x05,
  logout: 0x06,
  nopIn: 0x20,
  scsiResponse: 0x21,
  taskManagementResponse: 0x22,
  loginResponse: 0x23,
  textResponse: 0x24,
  dataIn: 0x25,
  logoutResponse: 0x26,
  readyToTransfer: 0x31,
  asyncMessage: 0x32,
  reject: 0x3f,
} as const;

export const taskManagement = {
  abortTask: 1,
  abortTaskSet: 2,
  clearAca: 3,
  clearTaskSet: 4,
  logicalUnitReset: 5,
  targetWarmReset: 6,
  targetColdReset: 7,
} as const;

/** Offsets of the fields that stand at the same place in many headers. */
export const fields = {
  lun: 8,
  taskTag: 16,
  transferTag: 20,
  expectedLength: 20,
  commandSn: 24,
  statusSn: 24,
  expectedStatusSn: 28,
  expectedCommandSn: 28,
  commandSnMax: 32,
  cdb: 32,
  dataSn: 36,
  bufferOffset: 40,
  residual: 44,
  desiredLength: 44,
} as const;

export function get32(bytes: Uint8Array, at: number): number {
  return (
    (((bytes[at] as number) << 24) |
      ((bytes[at + 1] as number) << 16) |
      ((bytes[at + 2] as number) << 8) |
      (bytes[at + 3] as number)) >>>
    0
  );
}

export function get24(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number);
}

export function put32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

/** Sequence numbers wrap around: `a` is before `b` when the way from `a` up to `b` is the shorter one. */
export function isBefore(a: number, b: number): boolean {
  return ((a - b) | 0) < 0;
}

export function putLun(bytes: Uint8Array, at: number, lun: number): void {
  bytes.fill(0, at, at + 8);
  if (lun > 255) bytes[at] = 0x40 | (lun >>> 8);
  bytes[at + 1] = lun & 255;
}

/** Data segments are filled up to whole words. */
export function paddingOf(length: number): number {
  return -length & 3;
}
