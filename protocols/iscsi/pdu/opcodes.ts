/** Numbers of RFC 7143, section 11. */
export const InitiatorOpcode = {
  nopOut: 0x00,
  scsiCommand: 0x01,
  taskManagement: 0x02,
  login: 0x03,
  text: 0x04,
  dataOut: 0x05,
  logout: 0x06,
  snack: 0x10,
} as const;

export const TargetOpcode = {
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

export const RejectReason = {
  commandNotSupported: 0x05,
  tooManyImmediateCommands: 0x06,
} as const;

/** Of an asynchronous message: the target is about to close the connection. */
export const CONNECTION_DROPPED = 2;

export const FINAL = 0x80;
export const CONTINUE = 0x40;

/** "No tag": stands in task tags that refer to nothing. */
export const RESERVED_TAG = 0xffffffff;

export const HEADER_BYTES = 48;
export const DIGEST_BYTES = 4;
