/** Delay of what stores receive and send, each way. */
export const latencyMs = 1

export const postgresPort = 5_432
export const redisPort = 6_379
export const serverPort = 8_080
export const redisPassword = 'bench'
