/** The column of a field: `s3Bucket` is `s3_bucket`. */
export function columnOf(field: string): string {
  return field.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

/** What a secret is sealed for: its table and column. It can be opened for nothing else. */
export function sealingPurpose(table: string, field: string): string {
  return `${table}.${columnOf(field)}`
}
