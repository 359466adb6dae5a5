// SPDX-License-Identifier: GPL-2.0-only
/* What ressd-probe --json has written; see result-file.h. */
#include <errno.h>
#include <json.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "result-file.h"

/* "" where there is none. */
static const char *text_of(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? json_object_get_string(value) : "";
}

static u64 number_of(struct json_object *object, const char *key, u64 otherwise)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? json_object_get_uint64(value) :
	       otherwise;
}

static enum status status_of(const char *name)
{
	int status = STATUS_HINT;

	while (status > STATUS_UNKNOWN && strcmp(status_name(status), name))
		status--;
	return status;
}

/* Findings without a value have no confidence. */
static enum confidence confidence_of(const char *name)
{
	int confidence = CONFIDENCE_HIGH;

	while (confidence > CONFIDENCE_LOW && strcmp(confidence_name(confidence), name))
		confidence--;
	return confidence;
}

static u64 policy_of(const char *name)
{
	u64 policy = POLICY_CACHE;

	while (policy > POLICY_NONE && strcmp(policy_name(policy), name))
		policy--;
	return policy;
}

static void take_finding(struct json_object *object, enum parameter parameter,
			 struct finding *finding)
{
	finding->status = status_of(text_of(object, "status"));
	finding->confidence = confidence_of(text_of(object, "confidence"));
	finding->value = parameter == PARAMETER_POLICY ? policy_of(text_of(object, "value")) :
			 number_of(object, "value", 0);
	finding->low = number_of(object, "low", finding->value);
	finding->high = number_of(object, "high", ~0ULL);
	finding->has_phase = json_object_object_get(object, "phase");
	finding->phase = number_of(object, "phase", 0);
	finding->ns = number_of(object, "ns", 0);
	snprintf(finding->why, sizeof(finding->why), "%s", text_of(object, "why"));
}

static bool take_findings(struct json_object *root, struct result_file *result)
{
	struct json_object *array;
	size_t i;
	int p;

	if (!json_object_object_get_ex(root, "parameters", &array) ||
	    json_object_array_length(array) != NR_PARAMETERS)
		return false;
	for (i = 0; i < NR_PARAMETERS; i++) {
		struct json_object *object = json_object_array_get_idx(array, i);

		for (p = 0; p < NR_PARAMETERS; p++)
			if (!strcmp(parameter_name(p), text_of(object, "name")))
				take_finding(object, p, &result->finding[p]);
	}
	return true;
}

int result_file_read(const char *path, struct result_file *result, struct failure *failure)
{
	struct json_object *root = json_object_from_file(path), *part;
	bool good;

	memset(result, 0, sizeof(*result));
	good = root && take_findings(root, result);
	if (good && json_object_object_get_ex(root, "region", &part)) {
		result->region = number_of(part, "bytes", 0);
		result->written = number_of(part, "written", 0);
	}
	if (good && json_object_object_get_ex(root, "verdict", &part))
		snprintf(result->verdict, sizeof(result->verdict), "%s", text_of(part, "verdict"));
	json_object_put(root);
	return good ? 0 : fail(failure, -EINVAL, "%s is not what ressd-probe --json writes", path);
}
