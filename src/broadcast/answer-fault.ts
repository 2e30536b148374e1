/**
 * Why the answer of a streaming server cannot be used. The message is a sentence for the operator: nothing of what was
 * asked or answered is in it.
 */
export class AnswerFault extends Error {}
