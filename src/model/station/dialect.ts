/**
 * How the API names and types what it sends and takes: as its own documentation says, or as the code of
 * AzuraCast does, which differs from AzuraCast's documentation.
 */
export const dialectNames = ['documented', 'azuracast'] as const

export type Dialect = (typeof dialectNames)[number]
