export { isSwiftRequest } from './request/address.ts';
export { createSwift } from './server.ts';
