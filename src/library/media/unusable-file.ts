/** A file cannot be imported. The message is a predicate about it ("it is empty"). */
export class UnusableFileError extends Error {}
