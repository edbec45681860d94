// CommonJS, since Temporal's SDK loads it by path in the client, the worker and the workflow sandbox.
// Error messages and stack traces travel as a payload, so the codec encrypts them like any other data.
const { DefaultFailureConverter } = require('@temporalio/common');

exports.failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
