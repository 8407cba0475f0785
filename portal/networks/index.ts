export { compatibleNetworks, networkForOrder } from './interfaces/joining.ts';
export { gatewayFor, type ArrayInterface } from './interfaces/interface.ts';
export { InterfaceService, interfacesOfArray } from './interfaces/service.ts';
export { networkRoutes } from './routes.ts';
export { NetworkService } from './service.ts';
export { VlanService } from './vlans/service.ts';
