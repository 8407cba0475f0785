export { compatibleNetworks, networkForOrder, type OrderedNetwork } from './interfaces/joining.ts';
export { Interfaces, interfacesOfArray, type InterfaceRow } from './interfaces/service.ts';
export { networkRoutes } from './routes.ts';
export { Networks, type NetworkView, type NewNetwork } from './service.ts';
export { Vlans, type VlanView } from './vlans/service.ts';
