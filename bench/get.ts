export async function get() {}
