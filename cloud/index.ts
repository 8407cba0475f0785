export { ConfigError } from './config/load.ts';
export { defaultConfig } from './config/defaults.ts';
export { ConfigSchema, type Config } from './config/schema.ts';
export { adoptFolder } from './recovery/readdress.ts';
export { stoppedArrays } from './stopped.ts';
export type { CloudOptions, CloudTls, RunningCloud } from './options.ts';
export { startCloud } from './start.ts';
