export { compatibleNetworks, networkForOrder } from './interfaces/joining.ts';
export { Interfaces, interfacesOfArray, type InterfaceRow } from './interfaces/service.ts';
export { networkRoutes } from './routes.ts';
export { Networks } from './service.ts';
export { Vlans } from './vlans/service.ts';
