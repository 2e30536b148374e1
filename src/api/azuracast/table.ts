import type { OperationDialect, RecordDialect } from './record-dialect.ts'

/** What AzuraCast answers and takes, by the name of the record's schema. */
export const records: Readonly<Record<string, RecordDialect>> = {}

/** What AzuraCast answers and takes beside records, by the id of the operation. */
export const operations: Readonly<Record<string, OperationDialect>> = {}
