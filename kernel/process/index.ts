export { addressesOfInterface, ipv6AddressOf, otherAddresses } from './addresses.ts';
export type {
  HostedConfiguration,
  HostedDrive,
  HostedInterface,
  HostedPolicy,
  NetworkAddress,
  HostedService,
} from './configuration.ts';
export { storageHomes, type ControllerHome } from './controllers.ts';
export { refuseWhileLockedDown } from './lock-down.ts';
export { HostedServer, whyUnbound } from './hosted-server.ts';
export type { EncryptionChange, FromProgram, GivenBack, Listening, ToProgram, UnboundAddress } from './messages.ts';
export { servicePlaceText } from './service-place.ts';
export { PULSE_FD, PULSE_VARIABLE } from './pulse.ts';
export type { ProcessLimits } from './limits.ts';
export { programEnvironment, programOptions, releaseMemory } from './resources.ts';
export { delegatedHolder, isPortalKey, PORTAL_ACTOR, portalAuthenticator, type PortalCaller } from './portal-key.ts';
export { PREPARE, runProgram, type HostedProgram, type ProgramHost, type StartProgram } from './program.ts';
