export { ConfigError } from './config/load.ts';
export { defaultConfig } from './config/defaults.ts';
export { ConfigSchema, type Config } from './config/schema.ts';
export { adoptFolder } from './recovery/readdress.ts';
export { stoppedArrays } from './stopped.ts';
export { startCloud, type CloudOptions, type CloudTls, type RunningCloud } from './start.ts';
