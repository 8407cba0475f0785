export { answeredHeaders, PROTECTION, sentHeaders } from './headers.ts';
export { refuseRelay, type Door } from './refusals.ts';
export { hasBody, relay, smallBody, type RelayLimits } from './relay.ts';
export { Underway } from './underway.ts';
