export async function mixed() {}
