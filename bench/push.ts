export async function push() {}
