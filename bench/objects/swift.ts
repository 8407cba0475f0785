export async function startSwift(_folder: string, _count: number): Promise<any> { return undefined; }
