const NOT_READY = 0x2;
const MEDIUM_ERROR = 0x3;
const HARDWARE_ERROR = 0x4;
const ILLEGAL_REQUEST = 0x5;
const UNIT_ATTENTION = 0x6;
const DATA_PROTECT = 0x7;
const ABORTED_COMMAND = 0xb;
const MISCOMPARE = 0xe;

/** Why a command failed, as SPC-4 puts it. */
export interface SenseData {
  readonly key: number;
  readonly code: number;
  readonly qualifier: number;
  /** Where it failed: an LBA, or the offset of the first byte that differs. */
  readonly information?: number;
}

function sense(key: number, code: number, qualifier: number): SenseData {
  return { key, code, qualifier };
}

export const Sense = {
  none: sense(0, 0, 0),
  notReady: sense(NOT_READY, 0x04, 0x03),
  unreadable: sense(MEDIUM_ERROR, 0x11, 0x00),
  internalFailure: sense(HARDWARE_ERROR, 0x44, 0x00),
  parameterListLength: sense(ILLEGAL_REQUEST, 0x1a, 0x00),
  invalidOpcode: sense(ILLEGAL_REQUEST, 0x20, 0x00),
  lbaOutOfRange: sense(ILLEGAL_REQUEST, 0x21, 0x00),
  invalidFieldInCdb: sense(ILLEGAL_REQUEST, 0x24, 0x00),
  unitNotSupported: sense(ILLEGAL_REQUEST, 0x25, 0x00),
  invalidFieldInParameters: sense(ILLEGAL_REQUEST, 0x26, 0x00),
  invalidRelease: sense(ILLEGAL_REQUEST, 0x26, 0x04),
  insufficientRegistrationResources: sense(ILLEGAL_REQUEST, 0x55, 0x04),
  writeProtected: sense(DATA_PROTECT, 0x27, 0x00),
  softwareWriteProtected: sense(DATA_PROTECT, 0x27, 0x02),
  spaceAllocationFailed: sense(DATA_PROTECT, 0x27, 0x07),
  deliveryFailed: sense(ABORTED_COMMAND, 0x47, 0x05),
  miscompare: sense(MISCOMPARE, 0x1d, 0x00),
} as const;

export const Attention = {
  powerOn: sense(UNIT_ATTENTION, 0x29, 0x00),
  reset: sense(UNIT_ATTENTION, 0x29, 0x03),
  modeParametersChanged: sense(UNIT_ATTENTION, 0x2a, 0x01),
  reservationsPreempted: sense(UNIT_ATTENTION, 0x2a, 0x03),
  reservationsReleased: sense(UNIT_ATTENTION, 0x2a, 0x04),
  registrationsPreempted: sense(UNIT_ATTENTION, 0x2a, 0x05),
  capacityChanged: sense(UNIT_ATTENTION, 0x2a, 0x09),
  reportedLunsChanged: sense(UNIT_ATTENTION, 0x3f, 0x0e),
} as const;

const FIXED_BYTES = 18;
const DESCRIPTOR_HEADER_BYTES = 8;
const INFORMATION_BYTES = 12;

export function encodeSense(data: SenseData, asDescriptors = false): Buffer {
  return asDescriptors ? encodeDescriptors(data) : encodeFixed(data);
}

function encodeFixed(data: SenseData): Buffer {
  const bytes = Buffer.alloc(FIXED_BYTES);
  bytes[0] = 0x70;
  bytes[2] = data.key;
  bytes[7] = FIXED_BYTES - 8;
  bytes[12] = data.code;
  bytes[13] = data.qualifier;
  // The field has 32 bits; what does not fit is left out, as the standard wants.
  if (data.information !== undefined && data.information <= 0xffffffff) {
    bytes[0] = 0xf0;
    bytes.writeUInt32BE(data.information, 3);
  }
  return bytes;
}

function encodeDescriptors(data: SenseData): Buffer {
  const extra = data.information === undefined ? 0 : INFORMATION_BYTES;
  const bytes = Buffer.alloc(DESCRIPTOR_HEADER_BYTES + extra);
  bytes[0] = 0x72;
  bytes[1] = data.key;
  bytes[2] = data.code;
  bytes[3] = data.qualifier;
  bytes[7] = extra;
  if (data.information !== undefined) {
    bytes[9] = INFORMATION_BYTES - 2;
    bytes[10] = 0x80;
    bytes.writeBigUInt64BE(BigInt(data.information), 12);
  }
  return bytes;
}
