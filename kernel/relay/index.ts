export { answeredHeaders, PROTECTION, sentHeaders } from './headers.ts';
export { hasBody, relay, smallBody, type RelayLimits } from './relay.ts';
