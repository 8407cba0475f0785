export type { HostedConfiguration, HostedDrive, HostedInterface, HostedPolicy } from './configuration.ts';
export { HostedServer } from './hosted-server.ts';
export type { FromProgram, ToProgram } from './messages.ts';
export { PREPARE, runProgram, type HostedProgram, type ProgramHost, type StartProgram } from './program.ts';
