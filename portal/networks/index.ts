export { compatibleNetworks, networkForOrder } from './interfaces/joining.ts';
export type { ArrayInterface } from './interfaces/interface.ts';
export { Interfaces, interfacesOfArray } from './interfaces/service.ts';
export { networkRoutes } from './routes.ts';
export { Networks } from './service.ts';
export { Vlans } from './vlans/service.ts';
